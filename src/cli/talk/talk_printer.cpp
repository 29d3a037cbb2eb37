#include "cli/talk/talk_printer.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/rounded.h"
#include "cli/chat/shown_text.h"
#include "cli/talk/talk_services.h"
#include "speech/hearing.h"
#include "talk/tools/tool.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;
using talk::TalkEvent;

std::string_view name_of(TalkEvent::Kind kind) {
  constexpr std::array<std::string_view, 15> kNames = {
      "voice", "draft", "heard",  "replies", "said",  "held",   "went_on", "fault",
      "moved", "woke",  "sleeps", "tool",    "rings", "remark", "recalled"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name_of(talk::Organ organ) {
  constexpr std::array<std::string_view, talk::kOrgans> kNames = {"hearing", "end of turn", "reply",
                                                                  "speech"};
  return kNames[static_cast<size_t>(organ)];
}

double ms(double value) {
  return rounded_ms(value);
}

Json json_of(const talk::TurnTimes& times) {
  return {
      {"heard_ms", ms(times.heard_ms)},           {"decided_ms", ms(times.decided_ms)},
      {"sound_ms", ms(times.sound_ms)},           {"hearing_ms", ms(times.ear_ms)},
      {"first_text_ms", ms(times.reply.mind_ms)}, {"first_speech_ms", ms(times.reply.mouth_ms)}};
}

Json json_of(const talk::OrganFacts& organ) {
  return {
      {"model", organ.model}, {"device", organ.place}, {"leaves_machine", organ.leaves_machine}};
}

// Of a tool, and of what is told of it.
std::pair<std::string_view, std::string_view> names_of(talk::ToolNews::Kind kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames = {
      {{"called", "arguments"},
       {"asks", "shown"},
       {"progress", "text"},
       {"answered", "answer"},
       {"not_run", "why"},
       {"remark", "text"},
       {"recalled", "text"}}};
  return kNames[static_cast<size_t>(kind)];
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string tool_line(const talk::ToolNews& news) {
  using Kind = talk::ToolNews::Kind;
  constexpr size_t kShown = 200;  // bytes of what a tool answers: the rest is the model's
  switch (news.kind) {
    case Kind::Called:
      return shown_text(fmt::format("[{} {}]", news.name, news.text));
    case Kind::Asks:
      return shown_text(fmt::format("[{} waits for a key]", news.text));
    case Kind::Answered:
      return shown_text(
          fmt::format("[{} answered: {}]", news.name, talk::bounded_answer(news.text, kShown)));
    case Kind::NotRun:
      return shown_text(fmt::format("[{} was not run: {}]", news.name, news.text));
    case Kind::Recalled:
      return recalled_line(news.name, news.text);
    case Kind::Progress:
    case Kind::Remark:
      break;
  }
  return shown_text(fmt::format("[{}: {}]", news.name, news.text));
}

void TalkPrinter::print_organs(const talk::OrganFacts& ear, const talk::OrganFacts& mind,
                               const talk::OrganFacts& mouth) {
  if (context_.json) {
    context_.out.line(line_of({{"event", "organs"},
                               {"hearing", json_of(ear)},
                               {"reply", json_of(mind)},
                               {"speech", json_of(mouth)}}));
    context_.out.flush();
    return;
  }
  for (const std::string& line : leaving_words(ear, mind, mouth)) {
    context_.say(line);
  }
}

void TalkPrinter::print_line(const std::string& line) {
  if (options_.sound_on_output) {
    context_.say(line);
  } else {
    context_.out.line(line);
  }
}

void TalkPrinter::print(const TalkEvent& event) {
  if (event.fault) {
    any_fault_ = true;
  }
  any_words_ = any_words_ || (event.kind == TalkEvent::Kind::Heard && !event.text.empty());
  if (context_.json) {
    print_json(event);
    return;
  }
  switch (event.kind) {
    case TalkEvent::Kind::Heard:
      if (!event.text.empty()) {
        print_line(fmt::format("you: {}", event.text));
      }
      break;
    case TalkEvent::Kind::Said:
      print_line(fmt::format("mynah: {}{}", event.text, event.interrupted ? " ..." : ""));
      break;
    case TalkEvent::Kind::Replies:
      if (options_.timings) {
        context_.say(fmt::format(
            "{:.0f} ms from voice to voice: heard after {:.0f}, over after {:.0f}; hearing took "
            "{:.0f}, the first words {:.0f}, their sound {:.0f}",
            event.times.sound_ms, event.times.heard_ms, event.times.decided_ms, event.times.ear_ms,
            event.times.reply.mind_ms, event.times.reply.mouth_ms));
      }
      break;
    case TalkEvent::Kind::Woke:
      context_.say(fmt::format("awake: {}", event.text));
      break;
    case TalkEvent::Kind::Sleeps:
      context_.say("asleep: it listens for the word alone");
      break;
    case TalkEvent::Kind::Fault:
      context_.say(fmt::format("{}: {}", name_of(event.fault->organ), event.fault->error.message));
      break;
    case TalkEvent::Kind::Moved:
      context_.say(fmt::format("{}: computes on {} now", name_of(*event.organ), event.text));
      break;
    case TalkEvent::Kind::Recalled:
    case TalkEvent::Kind::Tool:
      print_line(tool_line(*event.tool));
      break;
    case TalkEvent::Kind::Remark:
      context_.say(shown_text(event.text));
      break;
    default:
      break;
  }
  context_.out.flush();
}

void TalkPrinter::print_device(std::string_view kind, const std::string& text) {
  if (!context_.json) {
    context_.say(text);
    return;
  }
  context_.out.line(line_of({{"event", "device"}, {"news", kind}, {"text", text}}));
  context_.out.flush();
}

void TalkPrinter::print_json(const TalkEvent& event) {
  Json json = {{"event", name_of(event.kind)}, {"at_s", rounded_ms(seconds_of(event.at))}};
  switch (event.kind) {
    case TalkEvent::Kind::Heard:
    case TalkEvent::Kind::Draft:
      json["text"] = event.text;
      json["language"] = event.language;
      break;
    case TalkEvent::Kind::Said:
      json["text"] = event.text;
      json["interrupted"] = event.interrupted;
      break;
    case TalkEvent::Kind::Replies:
      json["times"] = json_of(event.times);
      break;
    case TalkEvent::Kind::Woke:
      json["word"] = event.text;
      break;
    case TalkEvent::Kind::Fault:
      json["organ"] = name_of(event.fault->organ);
      json["error"] = event.fault->error.message;
      break;
    case TalkEvent::Kind::Moved:
      json["organ"] = name_of(*event.organ);
      json["device"] = event.text;
      break;
    case TalkEvent::Kind::Tool:
      json["name"] = event.tool->name;
      json["state"] = names_of(event.tool->kind).first;
      json[names_of(event.tool->kind).second] = event.tool->text;
      break;
    case TalkEvent::Kind::Recalled:
      json["day"] = event.tool->name;
      json["text"] = event.tool->text;
      break;
    case TalkEvent::Kind::Rings:
    case TalkEvent::Kind::Remark:
      json["text"] = event.text;
      break;
    default:
      break;
  }
  context_.out.line(line_of(json));
  context_.out.flush();
}

}  // namespace mynah::cli
