#include "cli/speak/speak_lines.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "audio/sound_format.h"
#include "base/nearest_name.h"
#include "cli/command/error_json.h"
#include "cli/models/surroundings.h"
#include "cli/placement/placement_answer.h"
#include "cli/speak/sound_output.h"
#include "tensor/device_failure.h"

namespace mynah::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A line without an end must not fill the memory.
constexpr size_t kMostLineBytes = size_t{4} << 20;

class LineObserver final : public SpeechObserver {
 public:
  explicit LineObserver(SoundOutput& output) : output_(output) {}

  Status on_clause(const SpokenClause& clause) override {
    samples_ += clause.samples.size();
    return output_.write(clause.samples);
  }

  [[nodiscard]] size_t samples() const { return samples_; }

 private:
  SoundOutput& output_;
  size_t samples_ = 0;
};

// A member that is text or, where people count speakers, may be a whole number.
Result<std::string> text_of(const Json& object, const char* key, bool counts = false) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) {
    return std::string();
  }
  if (found->is_string()) {
    return found->get<std::string>();
  }
  if (counts && found->is_number_integer()) {
    return std::to_string(found->get<int64_t>());
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("\"{}\": wanted text, found {}", key, found->dump()));
}

}  // namespace

Status LineSpeaker::push(std::string_view text) {
  rest_ += text;
  size_t at = 0;
  for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', at)) {
    MYNAH_TRY_STATUS(take(rest_.substr(at, end - at)));
    at = end + 1;
  }
  rest_.erase(0, at);
  if (rest_.size() > kMostLineBytes) {
    return fail(ErrorCode::InvalidInput, fmt::format("line {}: wanted lines of at most {} MB",
                                                     number_ + 1, kMostLineBytes >> 20U));
  }
  return {};
}

Status LineSpeaker::finish() {
  return take(std::exchange(rest_, {}));
}

// Once for each.
void LineSpeaker::warn_of_key(const std::string& key) {
  const std::array<std::string, 6> known = {"text",    "output_file", "voice",
                                            "speaker", "speaker_id",  "speed"};
  if (std::ranges::find(known, key) == known.end() && told_keys_.insert(key).second) {
    context_.say(fmt::format("line {}: \"{}\" is not known and passed over{}; known are {}",
                             number_, key, suggestion(key, known), fmt::join(known, ", ")));
  }
}

Result<LineSpeaker::Line> LineSpeaker::parse(const std::string& text) {
  Line line{.text = text, .path = {}, .speak = options_.speak};
  if (options_.json) {
    const Json object = Json::parse(text, nullptr, false);
    if (!object.is_object()) {
      return fail(ErrorCode::InvalidInput,
                  "wanted a JSON object such as {\"text\": \"Hello.\"}, found other text");
    }
    if (!object.contains("text")) {
      return fail(ErrorCode::InvalidInput, "wanted \"text\", found none");
    }
    for (const auto& [key, value] : object.items()) {
      warn_of_key(key);
    }
    MYNAH_TRY(line.text, text_of(object, "text"));
    MYNAH_TRY(line.path, text_of(object, "output_file"));
    for (const char* key : {"voice", "speaker", "speaker_id"}) {
      MYNAH_TRY(std::string voice, text_of(object, key, true));
      if (!voice.empty()) {
        line.speak.voice.voice = std::move(voice);
      }
    }
    if (const auto speed = object.find("speed"); speed != object.end() && !speed->is_null()) {
      if (!speed->is_number()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("\"speed\": wanted a number, found {}", speed->dump()));
      }
      line.speak.voice.speed = speed->get<float>();
    }
  }
  const std::string name_of_line = fmt::format("{:04}.{}", number_, name(options_.sound.format));
  MYNAH_TRY(line.path, path_of(line.path.empty() ? name_of_line : line.path));
  return line;
}

// In the folder where one was named, and nowhere else, whatever a line says; else as the line says.
Result<std::string> LineSpeaker::path_of(const std::string& name) const {
  if (options_.folder.empty()) {
    return name;
  }
  const fs::path wanted = fs::path(name).lexically_normal();
  if (wanted.is_absolute() || wanted.empty() || *wanted.begin() == "..") {
    return fail(ErrorCode::InvalidInput,
                fmt::format("\"output_file\": wanted a name in the folder {}, found {}; without "
                            "--output-dir files go where lines say",
                            options_.folder, name));
  }
  return (fs::path(options_.folder) / wanted).string();
}

const place::Placer* LineSpeaker::placer() const {
  return others_ != nullptr ? &others_->placer() : first_.placer.get();
}

Result<LineSpeaker::Spoken> LineSpeaker::speak_by_other(const engine::SynthesizerWish& wish,
                                                        const engine::SpeakingModel& model,
                                                        const Line& line) {
  if (others_ == nullptr) {
    engine::PlacementWish placement = options_.wish.placement;
    placement.beside = first_.placer;
    MYNAH_TRY(others_, engine::Engine::create(std::move(placement), surroundings_of(context_)));
  }
  MYNAH_TRY(const auto other, others_->synthesizer(wish, model));
  if (options_.explain && explained_.insert(other->synthesizer->model().name()).second) {
    say_each(context_, other->explanation);
  }
  return speak_by(*other, line);
}

Result<LineSpeaker::Spoken> LineSpeaker::speak(Line line) {
  const std::string& voice = line.speak.voice.voice;
  const bool any = options_.wish.model == "auto";
  if (!any || voice == options_.speak.voice.voice || first_.synthesizer->check(line.speak)) {
    return speak_by(first_, line);
  }
  engine::SynthesizerWish wish = options_.wish;
  wish.voice = voice;
  MYNAH_TRY(const engine::SpeakingModel model, engine::speaking_model(wish, context_.environment));
  line.speak.voice.voice = model.voice;
  return model.path == first_.model_path ? speak_by(first_, line)
                                         : speak_by_other(wish, model, line);
}

Result<LineSpeaker::Spoken> LineSpeaker::speak_by(const engine::OpenedSynthesizer& opened,
                                                  const Line& line) {
  const VoiceModel& model = opened.synthesizer->model();
  SoundWriterOptions sound = options_.sound;
  sound.rate_hz = model.rate_hz();
  if (const auto format = sound_format_of(line.path)) {
    sound.format = *format;
  }
  const std::string path = fs::path(line.path).lexically_normal().string();
  if (written_.contains(path)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} was written for a line before", line.path));
  }
  if (const fs::path folder = fs::path(line.path).parent_path(); !options_.folder.empty()) {
    std::error_code error;
    fs::create_directories(folder, error);
  }
  MYNAH_TRY(const auto output, open_sound_output(line.path, context_.out, sound));
  LineObserver observer(*output);
  opened.name_work({line.path});
  MYNAH_TRY_STATUS(opened.synthesizer->speak(line.text, line.speak, observer, context_.stop));
  if (observer.samples() == 0) {
    return fail(ErrorCode::InvalidInput, "nothing in it can be spoken: wanted words");
  }
  MYNAH_TRY_STATUS(output->finish());
  written_.insert(path);
  return Spoken{.duration_s = static_cast<double>(observer.samples()) / model.rate_hz(),
                .model = model.name()};
}

// A line that cannot be spoken is told, and the others go on.
Status LineSpeaker::take(const std::string& text) {
  ++number_;
  if (text.find_first_not_of(" \t\r") == std::string::npos) {
    return {};
  }
  auto line = parse(text);
  const auto spoken = line ? speak(*line) : std::unexpected(line.error());
  if (context_.stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  if (!spoken) {
    ++failed_;
    context_.say(fmt::format("line {}: {}", number_, spoken.error().message));
    if (context_.json) {
      context_.out.line(Json{{"line", number_},
                             {"placement", placement_json(placer())},
                             {"error", error_json(spoken.error())}}
                            .dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    // No device is left: none of the lines that follow could be spoken.
    return is_of_device(spoken.error().code) ? std::unexpected(spoken.error()) : Status{};
  }
  ++spoken_;
  if (context_.json) {
    context_.out.line(Json{{"line", number_},
                           {"file", line->path},
                           {"duration", spoken->duration_s},
                           {"text", line->text},
                           {"model", spoken->model},
                           {"placement", placement_json(placer())}}
                          .dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    context_.out.line(line->path);
  }
  context_.out.flush();
  return {};
}

}  // namespace mynah::cli
