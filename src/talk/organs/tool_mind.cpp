#include "talk/organs/tool_mind.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "formats/json.h"
#include "talk/tools/rounds.h"

namespace mynah::talk {

namespace {

// What a conversation ends with that was called and not run yet.
std::vector<ToolCall> waiting_calls(const ChatRequest& request) {
  std::vector<ToolCall> calls;
  if (request.messages.empty() || !request.messages.back().contains("tool_calls")) {
    return calls;
  }
  for (const auto& call : request.messages.back()["tool_calls"]) {
    auto arguments = call["function"]["arguments"].get<std::string>();
    const auto parsed = parse_ordered_json(arguments, "a call's arguments");
    calls.push_back({.id = call["id"],
                     .name = call["function"]["name"],
                     .arguments = std::move(arguments),
                     .valid = parsed && parsed->is_object()});
  }
  return calls;
}

}  // namespace

// Tells that a key is asked for before it is.
class ToolMind::TellingConfirm final : public Confirm {
 public:
  TellingConfirm(Confirm& confirm, TurnObserver& observer)
      : confirm_(confirm), observer_(observer) {}

  [[nodiscard]] Result<Answer> ask(const ToolQuestion& question,
                                   const std::stop_token& stop) override {
    observer_.on_tool(
        {.kind = ToolNews::Kind::Asks, .name = question.tool, .text = question.shown});
    return confirm_.ask(question, stop);
  }

 private:
  Confirm& confirm_;
  TurnObserver& observer_;
};

// One reply, with what is called for it.
class ToolMind::Rounds final : public RoundsHost {
 public:
  Rounds(Mind& mind, const ToolBox& box, ChatRequest request, TurnObserver& observer,
         std::stop_token stop)
      : mind_(mind),
        box_(box),
        request_(std::move(request)),
        observer_(observer),
        stop_(std::move(stop)),
        waiting_(waiting_calls(request_)) {}

  [[nodiscard]] Result<ChatReply> reply(const ToolJson& tools) override {
    ChatReply reply;
    if (!waiting_.empty()) {
      reply.message.calls = std::exchange(waiting_, {});
      return reply;
    }
    request_.tools = tools;
    MYNAH_TRY(reply, mind_.reply(request_, observer_, stop_));
    if (reply.message.calls.empty()) {
      return reply;
    }
    if (!trimmed(reply.message.content).empty()) {
      // It is spoken while the tools run.
      ChatDelta paragraph;
      paragraph.said.content = "\n\n";
      MYNAH_TRY_STATUS(observer_.on_delta(paragraph));
    }
    add(called_message(reply.message));
    return reply;
  }

  [[nodiscard]] bool runs_calls(const ChatReply& reply) override {
    return observer_.is_decided() ||
           std::ranges::all_of(reply.message.calls, [this](const ToolCall& call) {
             const Tool* const tool = box_.find(call.name);
             return tool == nullptr || (tool->facts().unnoticed && !tool->facts().changes);
           });
  }

  void on_call(const ToolCall& call) override {
    called_ = call.name;
    observer_.on_tool({.kind = ToolNews::Kind::Called, .name = call.name, .text = call.arguments});
  }

  void on_answer(const ToolCall& call, const CallAnswer& answer) override {
    add(answer_message(call, answer.text));
    observer_.on_tool({.kind = answer.ran ? ToolNews::Kind::Answered : ToolNews::Kind::NotRun,
                       .name = call.name,
                       .text = answer.ran ? answer.text : answer.why});
  }

  void on_note(const std::string& note) override {
    observer_.on_tool({.kind = ToolNews::Kind::Remark, .text = note});
  }

  [[nodiscard]] ToolRun next_run() override {
    return {.stop = stop_,
            .most_bytes = kMostTalkAnswerBytes,
            .on_progress = [this](std::string_view told) {
              observer_.on_tool(
                  {.kind = ToolNews::Kind::Progress, .name = called_, .text = std::string(told)});
            }};
  }

 private:
  void add(ChatRequest::Json message) {
    observer_.on_message(message);
    request_.messages.push_back(std::move(message));
  }

  Mind& mind_;
  const ToolBox& box_;
  ChatRequest request_;
  TurnObserver& observer_;
  std::stop_token stop_;
  std::vector<ToolCall> waiting_;
  std::string called_;
};

ModelPlace ToolMind::place() const {
  return mind_.facts().leaves_machine ? ModelPlace::Elsewhere : ModelPlace::Here;
}

Result<ChatReply> ToolMind::reply(const ChatRequest& request, ChatObserver& observer,
                                  const std::stop_token& stop) {
  ChatRequest with_tools = request;
  {
    const std::lock_guard lock(mutex_);
    with_tools.tools = box_.offered(place());
  }
  return mind_.reply(with_tools, observer, stop);
}

Result<ChatReply> ToolMind::reply_in_turn(const ChatRequest& request, TurnObserver& observer,
                                          const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  TellingConfirm confirm(confirm_, observer);
  Rounds rounds(mind_, box_, request, observer, stop);
  MYNAH_TRY(ChatReply reply, run_rounds(box_, place(), confirm, rounds));
  if (!reply.notes.empty() && reply.notes.back().code == kRoundsOverNote) {
    rounds.on_note(reply.notes.back().text);
  }
  return reply;
}

}  // namespace mynah::talk
