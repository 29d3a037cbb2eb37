#include "cli/speak_lines.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audio/sound_format.h"
#include "cli/error_codes.h"
#include "cli/sound_output.h"

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

// A member that is text, or a whole number where people count speakers.
Result<std::string> text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) {
    return std::string();
  }
  if (found->is_string()) {
    return found->get<std::string>();
  }
  if (found->is_number_integer()) {
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

Result<LineSpeaker::Line> LineSpeaker::parse(const std::string& text) const {
  Line line{.text = text, .path = {}, .speak = options_.speak};
  if (options_.json) {
    const Json object = Json::parse(text, nullptr, false);
    if (!object.is_object()) {
      return fail(ErrorCode::InvalidInput,
                  "wanted a JSON object such as {\"text\": \"Hello.\"}, found other text");
    }
    MYNAH_TRY(line.text, text_of(object, "text"));
    MYNAH_TRY(line.path, text_of(object, "output_file"));
    for (const char* key : {"voice", "speaker", "speaker_id"}) {
      MYNAH_TRY(std::string voice, text_of(object, key));
      if (!voice.empty()) {
        line.speak.voice.voice = std::move(voice);
      }
    }
    if (const auto speed = object.find("speed"); speed != object.end() && speed->is_number()) {
      line.speak.voice.speed = speed->get<float>();
    }
  }
  if (line.path.empty()) {
    line.path =
        (fs::path(options_.folder) / fmt::format("{:04}.{}", number_, name(options_.sound.format)))
            .string();
  }
  return line;
}

Result<double> LineSpeaker::speak(const Line& line) const {
  SoundWriterOptions sound = options_.sound;
  if (const auto format = sound_format_of(line.path)) {
    sound.format = *format;
  }
  MYNAH_TRY(const auto output, open_sound_file(line.path, sound));
  LineObserver observer(*output);
  MYNAH_TRY_STATUS(synthesizer_.speak(line.text, line.speak, observer, context_.stop));
  MYNAH_TRY_STATUS(output->finish());
  return static_cast<double>(observer.samples()) / synthesizer_.model().rate_hz();
}

// A line that cannot be spoken is told, and the others go on.
Status LineSpeaker::take(const std::string& text) {
  ++number_;
  if (text.find_first_not_of(" \t\r") == std::string::npos) {
    return {};
  }
  auto line = parse(text);
  const auto seconds = line ? speak(*line) : std::unexpected(line.error());
  if (context_.stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  if (!seconds) {
    ++failed_;
    context_.say(fmt::format("line {}: {}", number_, seconds.error().message));
    if (context_.json) {
      context_.out.line(Json{
          {"line", number_},
          {"error",
           {{"code", error_code_name(seconds.error().code)}, {"message", seconds.error().message}}}}
                            .dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    return {};
  }
  ++spoken_;
  if (context_.json) {
    context_.out.line(
        Json{{"line", number_}, {"file", line->path}, {"duration", *seconds}, {"text", line->text}}
            .dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    context_.out.line(line->path);
  }
  context_.out.flush();
  return {};
}

}  // namespace mynah::cli
