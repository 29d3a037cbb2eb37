#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "place/kinds/llm/llm.h"
#include "place/kinds/llm/llm_wire.h"
#include "place/workers/hosted_model.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

class HostedLanguage final : public HostedModel {
 public:
  explicit HostedLanguage(HostServices& host) : host_(host) {}

  [[nodiscard]] std::optional<Result<WireWriter>> handle(Ask what, WireReader& in,
                                                         RequestStops& /*stops*/) override {
    switch (what) {
      case Ask::OpenLanguage:
        return open(in);
      case Ask::NewSession:
        return new_session(in);
      case Ask::DropSession:
        return drop_session(in);
      case Ask::Write:
        return write(in);
      default:
        return std::nullopt;
    }
  }

  void close() override {
    sessions_.clear();
    model_.reset();
  }

  [[nodiscard]] Result<Probe> probe() override {
    return model_ == nullptr ? not_open(kLlmGroup) : probe_language(*model_);
  }

 private:
  Result<WireWriter> open(WireReader& in) {
    LanguageFile file;
    StageDevice lower;
    StageDevice where;
    in(file, lower, where);
    MYNAH_TRY_STATUS(check_read(in));
    close();
    Backend* below = nullptr;
    if (lower.device != where.device) {
      MYNAH_TRY(below, host_.open(kLlmLower, lower));
    }
    MYNAH_TRY(Backend * backend, host_.open(kLlmStage, where));
    MYNAH_TRY(const auto opened, open_writing(file.path));
    MYNAH_TRY(model_,
              load_language(*opened, file, below, {.backend = *backend, .storage = where.storage}));
    return answer_of(model_->facts());
  }

  Result<WireWriter> new_session(WireReader& in) {
    MYNAH_TRY_STATUS(check_read(in));
    if (model_ == nullptr) {
      return not_open(kLlmGroup);
    }
    sessions_.emplace(next_session_, model_->session());
    return answer_of(next_session_++);
  }

  Result<WireWriter> drop_session(WireReader& in) {
    uint64_t number = 0;
    in(number);
    MYNAH_TRY_STATUS(check_read(in));
    sessions_.erase(number);
    return WireWriter();
  }

  Result<WireWriter> write(WireReader& in) {
    uint64_t number = 0;
    StepRequest request;
    in(number, request);
    MYNAH_TRY_STATUS(check_read(in));
    const auto found = sessions_.find(number);
    if (found == sessions_.end()) {
      return not_open(kLlmGroup);
    }
    host_.begin_call(kLlmGroup);
    auto chosen = found->second->step(request);
    // Where memory is short whoever asks may let go of texts: the worker is as it was.
    if (!chosen && chosen.error().code == ErrorCode::Device) {
      throw DeviceError(std::move(chosen).error());
    }
    MYNAH_TRY(const std::vector<ChosenToken> tokens, std::move(chosen));
    return answer_of(tokens);
  }

  HostServices& host_;
  std::shared_ptr<const LanguageModel> model_;
  std::map<uint64_t, std::unique_ptr<LanguageModel::Session>> sessions_;
  uint64_t next_session_ = 1;
};

}  // namespace

std::unique_ptr<HostedModel> host_language(HostServices& services) {
  return std::make_unique<HostedLanguage>(services);
}

}  // namespace mynah::place
