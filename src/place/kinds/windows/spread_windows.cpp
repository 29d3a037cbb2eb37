// Windows that several devices hear beside each other, each with a model of its own: a batch goes
// to whichever has the least to do, and to another where that one fails for good.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/kinds/windows/windows.h"
#include "place/state/placement_state.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

// Opens the model on one of the devices, or on what is fallen back on.
using Opener = std::function<Result<std::shared_ptr<const WindowModel>>(const StageDevices& only)>;

// A device with the model, as those who give it batches see it.
struct Part {
  std::shared_ptr<const WindowModel> model;
  int at_work = 0;      // batches
  uint64_t given = 0;   // batches so far: of those that are as busy whoever had the fewest is next
  bool failed = false;  // when it was asked last
};

// The devices, shared by the model and its decoders. Thread-safe.
class Parts {
 public:
  Parts(std::vector<std::shared_ptr<const WindowModel>> models, StageDevices after, Opener open)
      : after_(std::move(after)), open_(std::move(open)) {
    for (std::shared_ptr<const WindowModel>& model : models) {
      parts_.push_back({.model = std::move(model)});
    }
  }

  // Who has the least to do of those that did not fail, but for `tried`. Where all have, it is what
  // is fallen back on, then those that failed before: they may be trusted again; null: nobody.
  [[nodiscard]] std::shared_ptr<const WindowModel> take(
      std::span<const std::shared_ptr<const WindowModel>> tried) {
    const std::lock_guard lock(mutex_);
    Part* best = least_busy(false, tried);
    if (best == nullptr && !after_.devices.empty()) {
      const StageDevices last = std::exchange(after_, {});
      if (auto opened = open_(last)) {
        best = &parts_.emplace_back(Part{.model = *std::move(opened)});
      }
    }
    best = best == nullptr ? least_busy(true, tried) : best;
    if (best == nullptr) {
      return nullptr;
    }
    ++best->at_work;
    ++best->given;
    return best->model;
  }

  void give_back(const std::shared_ptr<const WindowModel>& model, bool failed) {
    const std::lock_guard lock(mutex_);
    const auto part = std::ranges::find(parts_, model, &Part::model);
    --part->at_work;
    part->failed = failed;
  }

  // Models that did not fail; all where each has.
  [[nodiscard]] std::vector<std::shared_ptr<const WindowModel>> models() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<const WindowModel>> all;
    for (const bool failed : {false, true}) {
      for (const Part& part : parts_) {
        if (part.failed == failed) {
          all.push_back(part.model);
        }
      }
      if (!all.empty()) {
        break;
      }
    }
    return all;
  }

 private:
  [[nodiscard]] Part* least_busy(bool failed,
                                 std::span<const std::shared_ptr<const WindowModel>> tried) {
    Part* best = nullptr;
    for (Part& part : parts_) {
      if (part.failed == failed && std::ranges::find(tried, part.model) == tried.end() &&
          (best == nullptr ||
           std::tie(part.at_work, part.given) < std::tie(best->at_work, best->given))) {
        best = &part;
      }
    }
    return best;
  }

  mutable std::mutex mutex_;
  std::vector<Part> parts_;
  StageDevices after_;  // none: it is open, or there is none
  Opener open_;
};

class SpreadDecoder final : public WindowDecoder {
 public:
  SpreadDecoder(std::shared_ptr<Parts> parts, const DecodingOptions& options)
      : parts_(std::move(parts)), options_(options) {}

  // Makes a decoder, so that options are refused now.
  Status begin() {
    const auto done = on_some_part([](WindowDecoder&) -> Result<bool> { return true; });
    return done ? Status{} : Status(std::unexpected(done.error()));
  }

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override {
    return on_some_part([&](WindowDecoder& decoder) { return decoder.decode(tasks, stop); });
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override {
    return on_some_part([&](WindowDecoder& decoder) { return decoder.draft(task, stop); });
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  struct Own {
    std::shared_ptr<const WindowModel> of;
    std::unique_ptr<WindowDecoder> decoder;
  };

  Result<WindowDecoder*> decoder_of(const std::shared_ptr<const WindowModel>& model) {
    auto own = std::ranges::find(own_, model, &Own::of);
    if (own == own_.end()) {
      MYNAH_TRY(auto decoder, model->decoder(options_));
      own = own_.insert(own_.end(), {.of = model, .decoder = std::move(decoder)});
    }
    return own->decoder.get();
  }

  // What the work refuses is returned; the last device's error where none is left.
  template <class Work>
  std::invoke_result_t<Work, WindowDecoder&> on_some_part(const Work& work) {
    std::optional<Error> lost;
    std::vector<std::shared_ptr<const WindowModel>> tried;
    while (const std::shared_ptr<const WindowModel> model = parts_->take(tried)) {
      auto done = or_device_error([&]() -> std::invoke_result_t<Work, WindowDecoder&> {
        MYNAH_TRY(WindowDecoder * decoder, decoder_of(model));
        const WindowTimings before = decoder->timings();
        auto result = work(*decoder);
        timings_.add(decoder->timings().since(before));
        return result;
      });
      const bool failed = !done && is_of_device(done.error().code);
      parts_->give_back(model, failed);
      if (!failed) {
        return done;
      }
      lost = std::move(done).error();
      tried.push_back(model);
    }
    return std::unexpected(
        lost.value_or(Error{ErrorCode::Device, "none of the devices that heard is left"}));
  }

  std::shared_ptr<Parts> parts_;
  DecodingOptions options_;
  std::vector<Own> own_;
  WindowTimings timings_;
};

class SpreadWindows final : public WindowModel {
 public:
  explicit SpreadWindows(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override {
    return parts_->models().front()->header();
  }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override {
    auto decoder = std::make_unique<SpreadDecoder>(parts_, options);
    MYNAH_TRY_STATUS(decoder->begin());
    return decoder;
  }

  [[nodiscard]] Result<Probe> probe() const override { return parts_->models().front()->probe(); }

  [[nodiscard]] WindowDevices devices() const override {
    std::vector<std::string> names;
    const auto models = parts_->models();
    names.reserve(models.size());
    for (const auto& model : models) {
      names.push_back(model->devices().text());
    }
    const std::string all = fmt::format("{}", fmt::join(names, "+"));
    return {.encoder = all, .decoder = all};
  }

  [[nodiscard]] int parts() const override { return static_cast<int>(parts_->models().size()); }

  // On threads of their own: who is asked waits for its device. Parts that get no thread come after
  // the first.
  void run_parts(int parts, FunctionRef<void(int)> fn) const override {
    std::vector<std::jthread> others;
    int at_once = parts;
    for (int i = 1; i < at_once; ++i) {
      try {
        others.emplace_back([fn, i] { fn(i); });
      } catch (const std::system_error&) {
        at_once = i;
      }
    }
    fn(0);
    for (int i = at_once; i < parts; ++i) {
      fn(i);
    }
  }

 private:
  std::shared_ptr<Parts> parts_;
};

}  // namespace

Result<std::shared_ptr<const WindowModel>> place_windows(
    const std::shared_ptr<PlacementState>& state, const WindowsFile& file) {
  const StageDevices wanted = state->context().options().request.of(kSttEncoder);
  if (wanted.beside == 1) {
    return place_windows_on(state, file, std::nullopt);
  }
  const Opener open = [state, file](const StageDevices& only) {
    return place_windows_on(state, file, only);
  };
  std::vector<std::shared_ptr<const WindowModel>> models;
  const auto first = wanted.devices.begin();
  const auto last = first + static_cast<ptrdiff_t>(wanted.beside);
  std::optional<Error> missing;
  for (auto device = first; device != last; ++device) {
    auto model = open({.automatic = false, .devices = {*device}});
    if (model) {
      models.push_back(*std::move(model));
    } else if (!wanted.may_fall_back() || !is_of_device(model.error().code)) {
      return model;
    } else {
      missing = missing.value_or(std::move(model).error());
    }
  }
  if (models.empty()) {
    // The whole list in its order, so that it is told why none of those before was taken.
    return open({.automatic = false, .devices = wanted.devices});
  }
  StageDevices after{.automatic = false, .devices = {last, wanted.devices.end()}};
  if (missing && state->context().options().say) {
    state->context().options().say(missing->message + "; the other devices hear without it");
  }
  return std::make_shared<const SpreadWindows>(
      std::make_shared<Parts>(std::move(models), std::move(after), open));
}

}  // namespace mynah::place
