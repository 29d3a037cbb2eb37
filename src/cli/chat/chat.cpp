#include "cli/chat/chat.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chat/choice_ranges.h"
#include "cli/chat/reply_printer.h"
#include "cli/chat/shown_text.h"
#include "cli/chat/terminal_chat.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/placement_answer.h"
#include "store/files.h"
#include "talk/tools/rounds.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostInput = size_t{16} << 20;

// What a question was for its words: bytes that are no UTF-8 become the sign for that.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool has_note(const ChatReply& reply, std::string_view code) {
  return std::ranges::find(reply.notes, code, &ReplyNote::code) != reply.notes.end();
}

std::string_view name_of(ReplyEnd end) {
  constexpr std::array<std::string_view, 5> kNames = {"stop", "stop", "tool_calls", "length",
                                                      "context_full"};
  return kNames[static_cast<size_t>(end)];
}

Json json_of(const ChatReply& reply, const engine::OpenedChat& opened) {
  Json calls = Json::array();
  for (const ToolCall& call : reply.message.calls) {
    calls.push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  }
  Json notes = Json::array();
  for (const ReplyNote& note : reply.notes) {
    notes.push_back({{"code", note.code}, {"text", note.text}});
  }
  const Generated& spent = reply.spent;
  return {{"model", opened.name},
          {"content", reply.message.content},
          {"reasoning", reply.message.reasoning},
          {"tool_calls", std::move(calls)},
          {"end", has_note(reply, kRepeatsNote) ? kRepeatsNote : name_of(reply.end)},
          {"prompt_tokens", spent.prompt_tokens},
          {"cached_tokens", spent.cached_tokens},
          {"tokens", spent.tokens},
          {"prompt_ms", spent.prompt_ms},
          {"written_ms", spent.written_ms},
          {"notes", std::move(notes)},
          {"placement", placement_json(opened.placer.get())}};
}

Json json_of(const std::vector<talk::RecalledWords>& recalled) {
  Json all = Json::array();
  for (const talk::RecalledWords& words : recalled) {
    all.push_back({{"id", words.item}, {"day", words.day}, {"text", words.text}});
  }
  return all;
}

// Keeps how likely each token was.
class TokenTeller final : public ChatObserver {
 public:
  Status on_delta(const ChatDelta& delta) override {
    for (const ToldToken& told : delta.tokens) {
      Json top = Json::array();
      for (const auto& [text, log_probability] : told.alternatives) {
        top.push_back({{"token", text}, {"logprob", log_probability}});
      }
      tokens_.push_back(
          {{"token", told.text}, {"logprob", told.log_probability}, {"top", std::move(top)}});
    }
    return {};
  }

  [[nodiscard]] const Json& tokens() const { return tokens_; }

 private:
  Json tokens_ = Json::array();
};

// One question, for an answer of one reply or of several with calls between them. Only what needs
// no key is run: who calls something else gets the calls.
class AnsweredOnce final : public talk::RoundsHost {
 public:
  AnsweredOnce(Context& context, Conversation& conversation, const talk::ToolBox& box,
               const talk::ToolsFile& tools, bool thoughts)
      : context_(context),
        conversation_(conversation),
        box_(box),
        tools_(tools),
        thoughts_(thoughts) {}

  [[nodiscard]] Result<ChatReply> reply(const talk::ToolJson& tools) override {
    Json offered = tools;
    for (const auto& described : tools_.described()) {
      if (described.command.empty()) {
        offered.push_back({{"type", "function"}, {"function", described.facts.told}});
      }
    }
    conversation_.request().tools = std::move(offered);
    teller_ = std::make_unique<TokenTeller>();
    ReplyPrinter printer(context_.out, thoughts_);
    auto replied = conversation_.reply(
        context_.json ? *teller_ : static_cast<ChatObserver&>(printer), context_.stop, [&] {
          // Nobody would stop it who reads a pipe.
          if (!context_.out.is_terminal() && conversation_.request().choice.most_tokens == 0) {
            return false;
          }
          printer.make_way();
          context_.say(kRepeatsText);
          return true;
        });
    if (!context_.json) {
      printer.finish();
    }
    return replied;
  }

  [[nodiscard]] bool runs_calls(const ChatReply& reply) override {
    return std::ranges::all_of(reply.message.calls, [this](const ToolCall& call) {
      const talk::Tool* const tool = box_.find(call.name);
      if (tool != nullptr && tool->facts().changes) {
        context_.say(fmt::format("{} is not run: in a conversation a key lets it", call.name));
      }
      return tool != nullptr && !tool->facts().changes;
    });
  }

  void on_answer(const ToolCall& call, const talk::CallAnswer& answer) override {
    conversation_.answer_call(call, answer.text);
  }

  void on_note(const std::string& note) override { context_.say(shown_text(note)); }

  [[nodiscard]] talk::ToolRun next_run() override {
    talk::ToolRun run;
    run.stop = context_.stop;
    return run;
  }

  // Of the last reply.
  [[nodiscard]] const Json& tokens() const { return teller_->tokens(); }

 private:
  Context& context_;
  Conversation& conversation_;
  const talk::ToolBox& box_;
  const talk::ToolsFile& tools_;
  bool thoughts_;
  std::unique_ptr<TokenTeller> teller_;
};

// Whether somebody sends a text on standard input: a pipe or a file.
bool is_sent() {
  struct stat about{};
  return ::fstat(STDIN_FILENO, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode));
}

}  // namespace

void ChatCommand::fields(Fields& fields) {
  fields
      .positional("TEXT", words_,
                  "A question, for one answer; without it a conversation in the terminal.")
      .as_optional();
  fields.section("Conversation");
  fields.option("system", "TEXT", system_, "What the model is told before all else.").shorter('s');
  fields
      .option("load", "FILE", load_,
              "A conversation that /save wrote: the question goes on with it. --system is said in "
              "place of its own.")
      .once()
      .completes(Complete::Files);
  memory_.fields(fields);
  tools_.fields(fields);
  fields.option("schema", "FILE", schema_, "A JSON schema that every answer keeps to.")
      .completes(Complete::Files);
  fields.option("grammar", "FILE", grammar_, "A grammar (GBNF) that every answer keeps to.")
      .completes(Complete::Files);
  fields.flag("json-answer", json_mode_, "Every answer is a JSON object.");
  const auto within = [](Field& field, const choice::Range& range) {
    field.within(range.least, range.most);
  };
  within(fields.option("max-tokens", "N", most_tokens_,
                       "Tokens of an answer at most; 0: as many as there is room for, or until it "
                       "repeats itself where no terminal shows it."),
         choice::kTokens);
  fields.names("stop", "TEXT", stops_, "A text that ends an answer; may be given several times.");
  fields.option("think", "HOW", think_,
                "How much models that can think do so before they answer: off, on, minimal, low, "
                "medium, high, or a number of tokens; auto: as the model has it.");
  fields.flag("thoughts", shows_thoughts_, "Show what the model thinks.");
  fields.section("Choice of words");
  within(fields.option("temperature", "X", sampling_.temperature,
                       "How freely words are chosen; 0: always the likeliest."),
         choice::kTemperature);
  within(fields.option("top-k", "N", sampling_.top_k, "Of the N likeliest alone; 0: off."),
         choice::kTopK);
  within(fields.option("top-p", "X", sampling_.top_p,
                       "Of the fewest that are together as likely as this; 1: off."),
         choice::kShare);
  within(fields.option("min-p", "X", sampling_.min_p,
                       "None less likely than this share of the likeliest; 0: off."),
         choice::kShare);
  within(fields.option("repeat-penalty", "X", sampling_.repetition_penalty,
                       "How much less likely what was said becomes; 1: off."),
         choice::kRepeatPenalty);
  within(fields.option("presence-penalty", "X", sampling_.presence_penalty,
                       "Taken off what was said at all."),
         choice::kSaidPenalty);
  within(fields.option("frequency-penalty", "X", sampling_.frequency_penalty,
                       "Taken off what was said, each time."),
         choice::kSaidPenalty);
  fields.option("seed", "N", seed_, "Same seed, same text; none: another each time.");
  within(fields.option("logprobs", "N", alternatives_,
                       "With --json: how likely each token of the answer was, and the N likeliest "
                       "beside it."),
         choice::kAlternatives);
  fields.section("Model and device");
  fields.option("model", "NAME", wish_.model, "The language model: " + std::string(kWritingModel))
      .shorter('m')
      .completes(Complete::Models);
  context_field(fields, wish_.context);
  fields.choice(
      "context-policy", "HOW", too_long_,
      {{"refuse", TooLong::Refuse}, {"leave-out", TooLong::LeaveOut}},
      "What becomes of a conversation without room: it is refused, or its oldest turns are "
      "left out, and it is said.");
  device_field(fields, wish_.placement.device, std::string(kDeviceHelp));
  layers_field(fields, wish_.placement);
  limit_fields(fields, wish_.placement);
  threads_field(fields, wish_.placement);
  fields.flag("explain", explain_, "Say on stderr which model and device, and why.");
  fields.flag("timings", timings_, "Say on stderr how long each answer took.");
}

std::string ChatCommand::details() const {
  return "With TEXT, or a text on a pipe, one answer goes to stdout (`git diff | mynah chat "
         "\"what changed?\"`).\n"
         "In a terminal without TEXT it is a conversation: Ctrl-C stops an answer and keeps the\n"
         "conversation, Ctrl-D leaves, /help shows what else there is.\n\n" +
         device_details();
}

Result<std::string> ChatCommand::question(Context& context) const {
  std::string text = fmt::format("{}", fmt::join(words_, " "));
  const bool reads = text == "-" || (is_sent() && !context.in.is_terminal());
  if (!reads) {
    return text;
  }
  std::string sent = context.in.read_to_end(kMostInput);
  while (sent.ends_with('\n')) {
    sent.pop_back();
  }
  if (text.empty() || text == "-") {
    return sent;
  }
  return sent.empty() ? text : fmt::format("{}\n\n{}", sent, text);
}

Result<ChatRequest> ChatCommand::base_request() const {
  ChatRequest request;
  request.owner = "chat";
  const auto thinking = thinking_of(think_);
  if (!thinking) {
    return fail(ErrorCode::Usage,
                fmt::format("--think: wanted {}, found '{}'", kThinkingWords, think_));
  }
  request.thinking = *thinking;
  request.too_long = too_long_;
  const int wanted = (schema_.empty() ? 0 : 1) + (grammar_.empty() ? 0 : 1) + (json_mode_ ? 1 : 0);
  if (wanted > 1) {
    return fail(ErrorCode::Usage, "wanted one of --schema, --grammar and --json-answer");
  }
  using Source = grammar::ConstraintSource;
  if (!schema_.empty()) {
    MYNAH_TRY(std::string text, read_text_file(schema_));
    request.constraint = Source{
        .kind = Source::Kind::JsonSchema, .text = std::move(text), .choices = {}, .schema = {}};
  } else if (!grammar_.empty()) {
    MYNAH_TRY(std::string text, read_text_file(grammar_));
    request.constraint =
        Source{.kind = Source::Kind::Gbnf, .text = std::move(text), .choices = {}, .schema = {}};
  } else if (json_mode_) {
    request.constraint = Source{};
  }
  if (request.constraint) {
    if (const auto form = grammar::grammar_of(*request.constraint); !form) {
      return std::unexpected(
          Error(form.error())
              .while_doing(schema_.empty() ? "--grammar " + grammar_ : "--schema " + schema_));
    }
  }
  request.choice = {.sampling = sampling_,
                    .remembered = 64,
                    .seed = seed_.value_or(std::random_device{}()),
                    .most_tokens = most_tokens_,
                    .stops = stops_,
                    .alternatives = alternatives_.value_or(-1)};
  request.choice.sampling.top_k = std::max(0, sampling_.top_k);
  return request;
}

Result<Conversation> ChatCommand::begin(ChatModel& model, ChatRequest base, Json loaded) const {
  Conversation conversation(model, std::move(base), system_);
  if (!loaded.is_null()) {
    MYNAH_TRY_STATUS(conversation.load(std::move(loaded), load_));
    if (!system_.empty()) {
      conversation.set_system(system_);
    }
  }
  return conversation;
}

Result<std::optional<talk::OpenedMemory>> ChatCommand::remember(Context& context,
                                                                const engine::OpenedChat& opened,
                                                                Conversation& conversation) const {
  engine::PlacementWish placement = wish_.placement;
  placement.beside = opened.placer;
  MYNAH_TRY(auto memory, memory_.open(context, placement));
  if (memory) {
    conversation.remember(
        std::make_shared<talk::ConversationMemory>(memory->store, memory->model, "chat", ""),
        opened.name, [&context](std::string_view said) { context.say(said); });
  }
  return memory;
}

Result<int> ChatCommand::answer(Context& context, const engine::OpenedChat& opened,
                                Conversation conversation, const std::string& question,
                                const talk::ToolsFile& tools) const {
  conversation.request().owner.clear();  // nothing follows this answer
  conversation.say(question);
  if (!context.json) {
    say_each(context, recalled_lines(conversation));
  }
  MYNAH_TRY(talk::OpenedTools opened_tools, tools_.open(context, tools, {}));
  AnsweredOnce host(context, conversation, opened_tools.box, tools, shows_thoughts_);
  talk::NobodyConfirms nobody;
  auto replied = talk::run_rounds(opened_tools.box, talk::ModelPlace::Here, nobody, host);
  if (!replied) {
    return context.stop.stop_requested() ? Result<int>(context.stopped_exit_code())
                                         : std::unexpected(std::move(replied).error());
  }
  if (context.json) {
    const Status right = opened.placer->settle();  // what the last look finds stands in the answer
    Json answer = json_of(*replied, opened);
    if (conversation.remembers()) {
      answer["recalled"] = json_of(conversation.recalled());
    }
    if (alternatives_) {
      answer["logprobs"] = host.tokens();
    }
    context.out.line(dumped(answer));
    MYNAH_TRY_STATUS(right);
  } else {
    for (const ToolCall& call : replied->message.calls) {
      context.out.line(dumped({{"name", call.name}, {"arguments", call.arguments}}));
    }
    for (const ReplyNote& note : replied->notes) {
      context.say(note.text);
    }
    if (replied->end == ReplyEnd::NoContext) {
      context.say(fmt::format("the answer was cut: the context is full{}",
                              conversation.has_more_context() ? " (--context has more)" : ""));
    }
  }
  if (timings_) {
    context.say(timing_line(replied->spent));
  }
  const bool cut = has_note(*replied, kFormCutNote) ||
                   (has_note(*replied, kRepeatsNote) && conversation.request().constraint);
  return cut ? 1 : 0;
}

Result<int> ChatCommand::converse(Context& context, const engine::OpenedChat& opened,
                                  Conversation conversation, const talk::ToolsFile& tools,
                                  talk::MemoryStore* memory) const {
  const auto typed = std::make_shared<TypedAnswers>();
  MYNAH_TRY(talk::OpenedTools opened_tools,
            tools_.open(context, tools, [typed](const talk::ToolFacts& facts) {
              return make_typed_tool(facts, typed);
            }));
  return run_terminal_chat(context, opened, std::move(conversation), opened_tools,
                           {.thoughts = shows_thoughts_,
                            .timings = timings_,
                            .loaded = load_,
                            .typed = typed,
                            .memory = memory});
}

Result<int> ChatCommand::run(Context& context) {
  MYNAH_TRY(const talk::ToolsFile tools, tools_.read());
  MYNAH_TRY(ChatRequest base, base_request());
  if (alternatives_ && !context.json) {
    return fail(ErrorCode::Usage, "--logprobs: wanted --json beside it");
  }
  Json loaded;
  if (!load_.empty()) {
    MYNAH_TRY(loaded, read_messages(load_));
  }
  MYNAH_TRY(const std::string question, this->question(context));
  const bool converses = question.empty() && context.in.is_terminal() && !context.json;
  if (question.empty() && !converses) {
    return fail(ErrorCode::Usage,
                "wanted a question: mynah chat \"...\", or a text on standard input");
  }
  if (context.take_when_late) {
    context.take_when_late([&context] {
      context.say(
          "stopping, once the model is loaded or its next token written; a second signal (Ctrl-C) "
          "ends it at once");
    });
  }
  MYNAH_TRY(const engine::OpenedChat opened, engine::open_chat(wish_, surroundings_of(context)));
  if (explain_) {
    say_each(context, opened.explanation);
  }
  if (!opened.chat->prompt().has_template()) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{} was not taught to converse: its file has no chat template; wanted "
                            "an instruct model (--model)",
                            opened.name));
  }
  MYNAH_TRY(Conversation conversation, begin(*opened.chat, std::move(base), std::move(loaded)));
  MYNAH_TRY(const auto memory, remember(context, opened, conversation));
  MYNAH_TRY(const int code,
            converses ? converse(context, opened, std::move(conversation), tools,
                                 memory ? memory->store.get() : nullptr)
                      : answer(context, opened, std::move(conversation), question, tools));
  if (explain_) {
    say_times(context, opened.placer.get());
  }
  MYNAH_TRY_STATUS(opened.placer->settle());
  return code;
}

}  // namespace mynah::cli
