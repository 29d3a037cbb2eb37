#include "cli/chat/terminal_chat.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/nearest_name.h"
#include "chat/thinking.h"
#include "cli/chat/interrupts.h"
#include "cli/chat/line_editor.h"
#include "cli/chat/reply_printer.h"
#include "cli/chat/shown_text.h"
#include "cli/placement/placement_answer.h"
#include "engine/store_folders.h"
#include "store/files.h"
#include "talk/tools/rounds.h"

namespace mynah::cli {

namespace {

struct SlashWord {
  std::string_view name;
  std::string_view about;
};

constexpr std::array<SlashWord, 11> kWords = {{
    {"/help", "what there is"},
    {"/clear", "begin a new conversation"},
    {"/system TEXT", "what the model is told before all else"},
    {"/retry", "another answer to the last question"},
    {"/undo", "take the last question and its answer back"},
    {"/think HOW", "how much a model that can think does: off, on, low, high, 500, auto"},
    {"/thoughts on|off", "show what it thinks"},
    {"/timings on|off", "say how long answers take"},
    {"/save FILE", "write the conversation as JSON; /save! over a file that is there"},
    {"/load FILE", "go on with a conversation that was written"},
    {"/quit", "leave; Ctrl-D does, too"},
}};

// How the beginning of one of the words goes on.
LineEditor::Completion complete_word(std::string_view beginning) {
  LineEditor::Completion found;
  for (const SlashWord& word : kWords) {
    const std::string_view name = word.name.substr(0, word.name.find(' '));
    if (name.starts_with(beginning) && !beginning.empty()) {
      found.rest = fmt::format("{}{}", name.substr(beginning.size()), name == word.name ? "" : " ");
      found.choices.emplace_back(name);
    }
  }
  if (found.choices.size() == 1) {
    found.choices.clear();
  }
  return found;
}

class TypedTool final : public talk::Tool {
 public:
  TypedTool(talk::ToolFacts facts, std::shared_ptr<TypedAnswers> answers)
      : facts_(std::move(facts)), answers_(std::move(answers)) {
    facts_.changes = false;  // what the user does himself he need not let be done
  }

  [[nodiscard]] const talk::ToolFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::string> run(const talk::ToolJson& /*arguments*/,
                                        const talk::ToolRun& /*run*/) override {
    return answers_->read(facts_.name);
  }

 private:
  talk::ToolFacts facts_;
  std::shared_ptr<TypedAnswers> answers_;
};

// A conversation under way.
class TerminalChat final : talk::RoundsHost, talk::Confirm {
 public:
  TerminalChat(Context& context, const engine::OpenedChat& opened, Conversation conversation,
               talk::OpenedTools& tools, TerminalChatOptions options)
      : context_(context),
        opened_(opened),
        conversation_(std::move(conversation)),
        tools_(tools),
        options_(std::move(options)),
        interrupts_(context.stop),
        editor_(history_file(), interrupts_, complete_word) {
    options_.typed->read = [this](const std::string& tool) { return read_answer(tool); };
  }

  Result<int> run() {
    context_.out.line(fmt::format("{} on {}; /help shows what there is, Ctrl-D leaves",
                                  opened_.name, opened_.device()));
    context_.out.flush();
    if (!options_.loaded.empty()) {
      tell_loaded(options_.loaded);
    }
    MYNAH_TRY_STATUS(recall_lines());
    // Servers of tools start now and not with the first question.
    for (const std::string& note : tools_.box.refresh(interrupts_.begin())) {
      on_note(note);
    }
    while (!done_ && !context_.stop.stop_requested()) {
      MYNAH_TRY_STATUS(tell_timers());
      const auto text = read_question();
      if (!text) {
        context_.out.line("");
        break;
      }
      const std::string_view question = trimmed(*text);
      if (question.empty()) {
        continue;
      }
      // A path, or lines that were pasted, are no word for mynah.
      const bool is_escaped = text->starts_with("//");
      if (text->starts_with('/') && !is_escaped && !question.contains('\n')) {
        MYNAH_TRY_STATUS(obey(std::string(question)));
        continue;
      }
      conversation_.say(std::string(question.substr(is_escaped ? 1 : 0)));
      say_each(context_, recalled_lines(conversation_));
      MYNAH_TRY_STATUS(answer());
    }
    return context_.stop.stop_requested() ? context_.stopped_exit_code() : 0;
  }

 private:
  [[nodiscard]] std::string history_file() const {
    if (options_.memory != nullptr) {
      return "";
    }
    const std::string home = engine::store_folders(context_.environment).home;
    std::error_code ignored;
    std::filesystem::create_directories(home, ignored);
    return home + "/chat_history";
  }

  // The lines that the arrow keys get back: what the memory holds, and nothing that was forgotten.
  Status recall_lines() {
    if (options_.memory == nullptr) {
      return {};
    }
    constexpr int64_t kLines = 1000;
    MYNAH_TRY(const auto turns,
              options_.memory->list(
                  {.kind = talk::MemoryKind::Turn, .origins = {talk::MemoryOrigin::User}}, kLines));
    for (const talk::MemoryItem& turn : turns) {
      editor_.keep(turn.turn.text);
    }
    return {};
  }

  // A question of a line, of several behind """, or of lines that end with \; none: the end.
  std::optional<std::string> read_question() {
    auto line = editor_.read("> ");
    if (!line) {
      return std::nullopt;
    }
    if (line->interrupted) {
      context_.out.line("");
      return std::string();
    }
    std::string text = std::move(line->text);
    constexpr std::string_view kQuotes = "\"\"\"";
    const bool quoted = text.starts_with(kQuotes);
    if (quoted) {
      text.erase(0, kQuotes.size());
    }
    while (quoted ? !text.ends_with(kQuotes) : text.ends_with('\\')) {
      if (!quoted) {
        text.pop_back();
      }
      line = editor_.read(". ");
      if (!line || line->interrupted) {
        return std::string();
      }
      text += "\n" + line->text;
    }
    if (quoted) {
      text.erase(text.size() - kQuotes.size());
    }
    editor_.keep(text);  // all of its lines: what is got back by the arrow keys is the question
    return text;
  }

  // Replies, and replies again to what tools answered.
  Status answer() {
    const auto last = talk::run_rounds(tools_.box, talk::ModelPlace::Here, *this, *this);
    if (!last) {
      return excuse(last.error());
    }
    if (!last->message.calls.empty()) {
      context_.say("the model called tools many times over: say how to go on");
    }
    return {};
  }

  [[nodiscard]] Result<ChatReply> reply(const talk::ToolJson& tools) override {
    conversation_.request().tools = tools;
    ReplyPrinter printer(context_.out, options_.thoughts);
    auto replied = conversation_.reply(printer, interrupts_.begin(), [&] {
      printer.make_way();
      context_.say(kRepeatsText);
      return true;
    });
    printer.finish();
    interrupts_.take();  // what stopped the reply throws away no line
    if (replied) {
      tell(*replied);
    }
    return replied;
  }

  void on_call(const ToolCall& call) override {
    context_.out.line(shown_text(fmt::format("[{} {}]", call.name, call.arguments)));
    context_.out.flush();
  }

  void on_answer(const ToolCall& call, const talk::CallAnswer& answer) override {
    conversation_.answer_call(call, answer.text);
  }

  void on_note(const std::string& note) override { context_.say(shown_text(note)); }

  [[nodiscard]] talk::ToolRun next_run() override {
    return {.stop = interrupts_.begin(),
            .most_bytes = talk::kMostAnswerBytes,
            .on_progress = [this](std::string_view told) { context_.say(shown_text(told)); }};
  }

  // No answer to one call is no answer to this call alone: a model may ask for the next one
  // forever.
  [[nodiscard]] Result<Answer> ask(const talk::ToolQuestion& question,
                                   const std::stop_token& /*stop*/) override {
    const auto key = editor_.read_key(
        shown_text(fmt::format("run {} (of {})? [y/N] ", question.shown, question.origin)));
    if (!key) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    return ascii_lower(*key) == 'y' ? Answer::Yes : Answer::No;
  }

  // What the user answers himself for a tool that has nothing else to do so.
  Result<std::string> read_answer(const std::string& tool) {
    const auto line = editor_.read(shown_text(fmt::format("what {} answers> ", tool)));
    if (!line || line->interrupted) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    return line->text;
  }

  // Those that are over, and those that were over while nobody was here.
  Status tell_timers() {
    if (tools_.timers == nullptr) {
      return {};
    }
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    MYNAH_TRY(const std::vector<talk::Timer> due, tools_.timers->due(now));
    for (const talk::Timer& timer : due) {
      context_.say(shown_text(talk::ring_text(timer, now)));
      MYNAH_TRY(const bool was_there, tools_.timers->remove(timer.id));
      static_cast<void>(was_there);
    }
    return {};
  }

  // What ends an answer and not the conversation.
  Status excuse(const Error& error) {
    if (error.code == ErrorCode::Cancelled && !context_.stop.stop_requested()) {
      context_.say("stopped; what came of the answer is kept");
      return {};
    }
    if (error.code == ErrorCode::InvalidInput || error.code == ErrorCode::Unsupported) {
      context_.say(error.message);
      conversation_.undo();
      return {};
    }
    return std::unexpected(error);
  }

  void tell(const ChatReply& reply) {
    for (const ReplyNote& note : reply.notes) {
      // What is so with every answer is said once.
      const bool is_lasting = note.code != kFormCutNote;
      const bool is_new = !is_lasting || said_.find(note.code) == said_.end();
      const bool is_other = std::exchange(said_[note.code], note.text) != note.text;
      if (is_new || (is_other && note.code != "prompt_changed_early")) {
        context_.say(note.text);
      }
    }
    if (reply.end == ReplyEnd::NoContext) {
      context_.say(fmt::format(
          "the context is full: /clear begins anew,{} --context-policy leave-out drops old turns",
          conversation_.has_more_context() ? " --context N has more room," : ""));
    }
    const bool is_told =
        std::ranges::find(reply.notes, kFormCutNote, &ReplyNote::code) != reply.notes.end();
    if (reply.end == ReplyEnd::Length && !is_told) {
      context_.say(fmt::format("the answer was cut at {} tokens, as --max-tokens has it",
                               reply.spent.tokens));
    }
    if (options_.timings) {
      context_.say(timing_line(reply.spent));
    }
  }

  Status obey(const std::string& text) {
    const size_t space = text.find(' ');
    const std::string word = text.substr(0, space);
    const std::string rest =
        space == std::string::npos ? std::string() : std::string(trimmed(text.substr(space)));
    if (word == "/help" || word == "/?") {
      for (const SlashWord& known : kWords) {
        context_.out.line(fmt::format("  {:<20} {}", known.name, known.about));
      }
      context_.out.line(
          "  A line that ends with \\ goes on; \"\"\" begins and ends several lines. A question "
          "that\n  begins with a slash has two of them (//etc/hosts ...), or a space before it.");
    } else if (word == "/clear") {
      conversation_.clear();
      context_.say("a new conversation");
    } else if (word == "/system") {
      conversation_.set_system(rest);
      context_.say(rest.empty() ? "the model is told nothing before all else"
                                : "the model is told that from now on");
    } else if (word == "/retry") {
      if (conversation_.take_back_reply()) {
        ++conversation_.request().choice.seed;
        return answer();
      }
      context_.say("there is no question to answer again");
    } else if (word == "/undo") {
      context_.say(conversation_.undo() ? "the last question and its answer are taken back"
                                        : "there is nothing to take back");
    } else if (word == "/think") {
      set_thinking(rest);
    } else if (word == "/thoughts") {
      set_switch(options_.thoughts, rest, "thoughts");
    } else if (word == "/timings") {
      set_switch(options_.timings, rest, "timings");
    } else if (word == "/save" || word == "/save!") {
      save(rest, word == "/save!");
    } else if (word == "/load") {
      load(rest);
    } else if (word == "/quit" || word == "/exit" || word == "/bye") {
      done_ = true;
    } else {
      std::vector<std::string> names;
      names.reserve(kWords.size());
      for (const SlashWord& known : kWords) {
        names.emplace_back(known.name.substr(0, known.name.find(' ')));
      }
      context_.say(fmt::format("there is no {}{}; /help shows what there is, and //... asks", word,
                               suggestion(word, names)));
    }
    context_.out.flush();
    return {};
  }

  void set_thinking(const std::string& how) {
    if (const auto thinking = thinking_of(how)) {
      conversation_.request().thinking = *thinking;
      const ChatPrompt& prompt = opened_.chat->prompt();
      const std::string& source = prompt.template_source();
      const ThinkingPlan plan =
          plan_thinking(*thinking, source, thought_markers(source, prompt.format()));
      for (const ReplyNote& note : plan.notes) {
        said_[note.code] = note.text;  // and not with the next answer again
        context_.say(note.text);
      }
      if (plan.notes.empty()) {
        context_.say(fmt::format("thinks: {}", how.empty() ? "auto" : how));
      }
    } else {
      context_.say(fmt::format("wanted {}, found '{}'", kThinkingWords, how));
    }
  }

  void set_switch(bool& value, const std::string& word, std::string_view what) {
    if (!word.empty() && word != "on" && word != "off") {
      context_.say(fmt::format("wanted on or off, found '{}'", word));
      return;
    }
    value = word != "off";
    context_.say(fmt::format("{} are {}", what, value ? "shown" : "not shown"));
  }

  void save(const std::string& path, bool replaces) {
    if (path.empty()) {
      context_.say("wanted /save FILE");
      return;
    }
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(path, ignored);
    if (is_there && !std::filesystem::is_regular_file(path, ignored)) {
      context_.say(fmt::format("cannot write {}: it is no file", path));
      return;
    }
    if (is_there && !replaces) {
      context_.say(fmt::format("{0} is there already; /save! {0} writes over it", path));
      return;
    }
    const Status written = write_text_file(
        path,
        conversation_.messages().dump(2, ' ', false, Conversation::Json::error_handler_t::replace) +
            "\n");
    context_.say(written ? fmt::format("written to {}", path) : written.error().message);
  }

  void load(const std::string& path) {
    if (path.empty()) {
      context_.say("wanted /load FILE");
      return;
    }
    auto messages = read_messages(path);
    const Status loaded = messages ? conversation_.load(*std::move(messages), path)
                                   : Status(std::unexpected(std::move(messages).error()));
    if (loaded) {
      tell_loaded(path);
    } else {
      context_.say(loaded.error().message);
    }
  }

  void tell_loaded(const std::string& path) {
    context_.say(
        fmt::format("goes on with the {} messages of {}", conversation_.messages().size(), path));
  }

  Context& context_;
  const engine::OpenedChat& opened_;
  Conversation conversation_;
  talk::OpenedTools& tools_;
  TerminalChatOptions options_;
  Interrupts interrupts_;
  LineEditor editor_;
  std::map<std::string, std::string> said_;  // notes by their code
  bool done_ = false;
};

}  // namespace

std::shared_ptr<talk::Tool> make_typed_tool(talk::ToolFacts facts,
                                            std::shared_ptr<TypedAnswers> answers) {
  return std::make_shared<TypedTool>(std::move(facts), std::move(answers));
}

Result<int> run_terminal_chat(Context& context, const engine::OpenedChat& opened,
                              Conversation conversation, talk::OpenedTools& tools,
                              TerminalChatOptions options) {
  return TerminalChat(context, opened, std::move(conversation), tools, std::move(options)).run();
}

}  // namespace mynah::cli
