// Tools, people and models of tests: what was run, what was asked, and a model that always obeys.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "talk/tools/confirm.h"
#include "talk/tools/rounds.h"
#include "talk/tools/tool.h"

namespace mynah::talk::test {

// Notes each run.
class RecordingTool final : public Tool {
 public:
  RecordingTool(ToolFacts facts, std::string answer)
      : facts_(std::move(facts)), answer_(std::move(answer)) {}

  [[nodiscard]] const ToolFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::string> run(const ToolJson& arguments, const ToolRun& run) override {
    if (run.stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    runs.push_back(arguments);
    return answer_;
  }

  std::vector<ToolJson> runs;

 private:
  ToolFacts facts_;
  std::string answer_;
};

inline std::shared_ptr<RecordingTool> recording(std::string name, bool changes,
                                                std::string answer = "done",
                                                bool may_leave = false) {
  return std::make_shared<RecordingTool>(ToolFacts{.name = std::move(name),
                                                   .description = "A tool of a test.",
                                                   .parameters = {{"type", "object"}},
                                                   .origin = "test",
                                                   .changes = changes,
                                                   .may_leave = may_leave},
                                         std::move(answer));
}

// Somebody who always presses the same key, or goes away.
class SameKey final : public Confirm {
 public:
  explicit SameKey(std::optional<Answer> answer) : answer_(answer) {}

  [[nodiscard]] Result<Answer> ask(const ToolQuestion& question,
                                   const std::stop_token& /*stop*/) override {
    questions.push_back(question);
    return answer_ ? Result<Answer>(*answer_) : fail(ErrorCode::Cancelled, "stopped");
  }

  std::vector<ToolQuestion> questions;

 private:
  std::optional<Answer> answer_;
};

inline ToolCall call_of(std::string name, std::string arguments = "{}", bool valid = true) {
  return {.id = "123456789",
          .name = std::move(name),
          .arguments = std::move(arguments),
          .valid = valid};
}

// A conversation whose model writes what stands in a list.
class ScriptedHost final : public RoundsHost {
 public:
  explicit ScriptedHost(std::deque<std::vector<ToolCall>> replies) : replies_(std::move(replies)) {}

  [[nodiscard]] Result<ChatReply> reply(const ToolJson& tools) override {
    offered.push_back(tools);
    ChatReply reply;
    if (!replies_.empty()) {
      reply.message.calls = std::move(replies_.front());
      replies_.pop_front();
    }
    return reply;
  }

  void on_answer(const ToolCall& call, const CallAnswer& answer) override {
    answers.emplace_back(call.name, answer);
  }

  void on_note(const std::string& note) override { notes.push_back(note); }

  [[nodiscard]] ToolRun next_run() override { return {}; }

  std::vector<ToolJson> offered;
  std::vector<std::pair<std::string, CallAnswer>> answers;
  std::vector<std::string> notes;

 private:
  std::deque<std::vector<ToolCall>> replies_;
};

}  // namespace mynah::talk::test
