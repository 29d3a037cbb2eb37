#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "place/kinds/windows/windows.h"
#include "place/kinds/windows/windows_elsewhere.h"
#include "place/kinds/windows/windows_wire.h"
#include "place/workers/hosted_model.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

class HostedWindows final : public HostedModel {
 public:
  explicit HostedWindows(HostServices& host) : host_(host) {}

  [[nodiscard]] std::optional<Result<WireWriter>> handle(Ask what, WireReader& in,
                                                         RequestStops& stops) override {
    switch (what) {
      case Ask::OpenWindows:
        return open(in, stops);
      case Ask::NewDecoder:
        return new_decoder(in);
      case Ask::DropDecoder:
        return drop_decoder(in);
      case Ask::Decode:
        return decode(in, stops);
      case Ask::Draft:
        return draft(in, stops.all());
      case Ask::FullWindow:
        return full_window(in);
      default:
        return std::nullopt;
    }
  }

  void close() override {
    decoders_.clear();
    windows_.reset();
  }

  [[nodiscard]] Result<Probe> probe() override {
    return windows_ == nullptr ? not_open(kSttGroup) : windows_->probe();
  }

  [[nodiscard]] double window_s() const override {
    return windows_ == nullptr ? 0 : windows_->header()->facts().full_window_s;
  }

 private:
  Result<WireWriter> open(WireReader& in, RequestStops& stops) {
    WindowsFile file;
    StageDevice encoder;
    StageDevice decoder;
    in(file, encoder, decoder);
    MYNAH_TRY_STATUS(check_read(in));
    close();
    MYNAH_TRY(auto mynah, host_.mynah(kSttGroup, encoder));
    if (mynah != nullptr) {
      MYNAH_TRY(windows_, open_windows_elsewhere(file, std::move(mynah), stops.all()));
      return WireWriter();
    }
    MYNAH_TRY(Backend * of_encoder, host_.open(kSttEncoder, encoder));
    MYNAH_TRY(Backend * of_decoder, host_.open(kSttDecoder, decoder));
    MYNAH_TRY(const auto opened, open_hearing(file.path));
    MYNAH_TRY(windows_,
              load_windows(*opened, file, {.backend = *of_encoder, .storage = encoder.storage},
                           {.backend = *of_decoder, .storage = decoder.storage}));
    return WireWriter();
  }

  Result<WireWriter> new_decoder(WireReader& in) {
    DecodingOptions options;
    in(options);
    MYNAH_TRY_STATUS(check_read(in));
    if (windows_ == nullptr) {
      return not_open(kSttGroup);
    }
    MYNAH_TRY(auto decoder, windows_->decoder(options));
    decoders_.emplace(next_decoder_, std::move(decoder));
    return answer_of(next_decoder_++);
  }

  Result<WireWriter> drop_decoder(WireReader& in) {
    uint64_t number = 0;
    in(number);
    MYNAH_TRY_STATUS(check_read(in));
    decoders_.erase(number);
    return WireWriter();
  }

  Result<WireWriter> decode(WireReader& in, RequestStops& stops) {
    uint64_t number = 0;
    std::vector<WindowTask> tasks;
    in(number, tasks);
    MYNAH_TRY_STATUS(check_read(in));
    const auto found = decoders_.find(number);
    if (found == decoders_.end()) {
      return not_open(kSttGroup);
    }
    host_.begin_call(kSttGroup);
    for (size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].stop = stops.row(i);
    }
    auto heard = found->second->decode(tasks, stops.all());
    if (!heard) {
      throw DeviceError(std::move(heard).error());
    }
    return answer_of(*heard, found->second->timings());
  }

  Result<WireWriter> draft(WireReader& in, const std::stop_token& stop) {
    uint64_t number = 0;
    WindowTask task;
    in(number, task);
    MYNAH_TRY_STATUS(check_read(in));
    const auto found = decoders_.find(number);
    if (found == decoders_.end()) {
      return not_open(kSttGroup);
    }
    host_.begin_call(kSttGroup);
    auto heard = found->second->draft(task, stop);
    if (!heard) {
      throw DeviceError(std::move(heard).error());
    }
    return answer_of(*heard);
  }

  Result<WireWriter> full_window(WireReader& in) {
    MYNAH_TRY_STATUS(check_read(in));
    if (windows_ == nullptr) {
      return not_open(kSttGroup);
    }
    FullWindow window;
    const auto run = [&]() -> Status {
      MYNAH_TRY(window.memory, windows_->hear_full_window());
      return {};
    };
    MYNAH_TRY_STATUS(host_.time_steps(kSttGroup, run, window.times));
    return answer_of(window);
  }

  HostServices& host_;
  std::shared_ptr<const WindowModel> windows_;
  std::map<uint64_t, std::unique_ptr<WindowDecoder>> decoders_;
  uint64_t next_decoder_ = 1;
};

}  // namespace

std::unique_ptr<HostedModel> host_windows(HostServices& services) {
  return std::make_unique<HostedWindows>(services);
}

}  // namespace mynah::place
