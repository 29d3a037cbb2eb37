#include "chat/chat_model.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "chat/call_ids.h"
#include "chat/turns.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Whether the prompt began a thought.
bool begins_thought(const ThoughtMarkers& thoughts, const std::string& prompt_end) {
  if (thoughts.begin.empty()) {
    return false;
  }
  const size_t begin = prompt_end.rfind(thoughts.begin);
  const size_t end = prompt_end.rfind(thoughts.end);
  return begin != std::string::npos && (end == std::string::npos || end < begin);
}

std::vector<ReplyTool> tools_of(const ChatRequest::Json& tools) {
  std::vector<ReplyTool> all;
  for (const auto& tool : tools) {
    const auto function = tool.is_object() ? tool.find("function") : tool.end();
    if (!tool.is_object() || function == tool.end() || !function->is_object() ||
        !function->contains("name") || !(*function)["name"].is_string()) {
      continue;
    }
    const auto parameters = function->find("parameters");
    all.push_back({.name = (*function)["name"].get<std::string>(),
                   .parameters = parameters == function->end() ? "{}" : parameters->dump(),
                   .strict = function->value("strict", ChatRequest::Json(false)) == true});
  }
  return all;
}

}  // namespace

ChatModel::ChatModel(ChatPrompt prompt, std::shared_ptr<const LanguageModel> model,
                     GenerationQueue::Limits limits)
    : prompt_(std::move(prompt)),
      thoughts_(thought_markers(prompt_.template_source(), prompt_.format())),
      constraints_(prompt_.shared_tokenizer()),
      queue_(std::move(model), limits) {}

Result<std::unique_ptr<ChatModel>> ChatModel::open(const TensorFile& file,
                                                   std::shared_ptr<const LanguageModel> model,
                                                   GenerationQueue::Limits limits) {
  MYNAH_TRY(ChatPrompt prompt, ChatPrompt::read(file));
  if (prompt.tokenizer().size() > model->facts().vocabulary) {
    return fail(ErrorCode::InvalidInput,
                file.path + ": its tokenizer has more tokens than its model has logits");
  }
  return std::unique_ptr<ChatModel>(new ChatModel(std::move(prompt), std::move(model), limits));
}

Status ChatModel::announce(const Asked& asked, const ChatRequest& request,
                           ChatObserver& observer) const {
  const int64_t tokens = std::ssize(asked.tokens);
  std::ranges::for_each(asked.notes, [&](const ReplyNote& note) { observer.on_note(note); });
  MYNAH_TRY_STATUS(observer.on_begin(tokens, context_of(request)));
  return check_room(tokens, request);
}

Result<ChatModel::Writing> ChatModel::begin(const Asked& asked, const ChatRequest& request,
                                            size_t number, size_t of_prompt,
                                            const std::shared_ptr<ReplyArrivals>& arrivals,
                                            const std::stop_token& stop) {
  const TextTokenizer& tokenizer = prompt_.tokenizer();
  const ReplyChoice& choice = request.choice;
  ReplyOptions options = asked.options;
  options.id_seed = call_id_seed(request) + number;
  Writing writing;
  writing.stream = std::make_shared<ReplyStream>(tokenizer, asked.format, options, choice.stops,
                                                 choice.alternatives >= 0,
                                                 [arrivals, number] { arrivals->tell(number); });
  if (asked.rules) {
    writing.rule = std::make_shared<ReplyRule>(*asked.rules, tokenizer);
  }
  GenerationTask task{.prompt = asked.tokens,
                      .options = {.sampling = choice.sampling,
                                  .remembered = choice.remembered,
                                  .seed = choice.seed + number,
                                  .most_tokens = asked.most_tokens,
                                  .ends = tokenizer.special().reply_ends,
                                  .alternatives = choice.alternatives,
                                  .rule = writing.rule},
                      .owner = request.owner,
                      .conversation = request.conversation,
                      .forks = asked.forks,
                      .urgency = request.urgency,
                      .on_token = [stream = writing.stream](const ChosenToken& chosen) {
                        return stream->push(chosen);
                      }};
  if (of_prompt > 1) {
    task.forks.push_back(std::ssize(task.prompt));
  }
  MYNAH_TRY_STATUS(
      queue_.submit(std::move(task), stop, [stream = writing.stream](Result<Generated> generated) {
        stream->finish(std::move(generated));
      }));
  return writing;
}

Result<ChatReply> ChatModel::end(const Asked& asked, const Writing& writing,
                                 ChatObserver& observer) const {
  MYNAH_TRY(ChatReply reply, writing.stream->reply());
  add_notes(asked, writing.rule.get(), reply);
  for (size_t i = asked.notes.size(); i < reply.notes.size(); ++i) {
    observer.on_note(reply.notes[i]);
  }
  MYNAH_TRY_STATUS(observer.on_end(reply));
  return reply;
}

Result<std::vector<ChatReply>> ChatModel::run(std::span<const Asked> asked,
                                              const ChatRequest& request,
                                              std::span<ChatObserver* const> observers,
                                              const std::stop_token& stop) {
  const size_t of_prompt = observers.size() / asked.size();
  const auto asked_of = [&](size_t number) -> const Asked& { return asked[number / of_prompt]; };
  for (size_t number = 0; number < observers.size(); ++number) {
    MYNAH_TRY_STATUS(announce(asked_of(number), request, *observers[number]));
  }
  std::stop_source own;
  const std::stop_callback passes(stop, [&own] { own.request_stop(); });
  const auto arrivals = std::make_shared<ReplyArrivals>();
  std::vector<Writing> all(observers.size());
  std::vector<ChatReply> replies(observers.size());
  size_t begun = 0;
  size_t ended = 0;
  Status good;
  // What is still written once something failed is taken and told nobody.
  const auto note = [&](Status status) {
    if (good && !status) {
      good = std::move(status);
      own.request_stop();
    }
  };
  while (ended < begun || (good && begun < observers.size())) {
    if (good && begun < observers.size() && begun - ended < kSideBySide) {
      auto writing = begin(asked_of(begun), request, begun, of_prompt, arrivals, own.get_token());
      if (writing) {
        all[begun++] = *std::move(writing);
      } else {
        note(std::unexpected(std::move(writing).error()));
      }
      continue;
    }
    const size_t number = arrivals->wait();
    Writing& writing = all[number];
    if (writing.stream == nullptr) {
      continue;  // it was told more than once that it had ended
    }
    while (const auto delta = writing.stream->take()) {
      note(good ? observers[number]->on_delta(*delta) : Status());
    }
    if (!writing.stream->is_over()) {
      continue;
    }
    ++ended;
    if (good) {
      auto reply = end(asked_of(number), writing, *observers[number]);
      if (reply) {
        replies[number] = *std::move(reply);
      } else {
        note(std::unexpected(std::move(reply).error()));
      }
    }
    writing = {};
  }
  MYNAH_TRY_STATUS(std::move(good));
  return replies;
}

int64_t ChatModel::context_of(const ChatRequest& request) const {
  return request.context > 0 ? std::min(request.context, facts().context) : facts().context;
}

Status ChatModel::check_room(int64_t prompt, const ChatRequest& request) const {
  const int64_t context = context_of(request);
  if (request.too_long != TooLong::LeaveOut || prompt < context) {
    return {};
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("the last turn and what the system says have {} tokens, and the context "
                          "{}: those are never left out; shorten them",
                          prompt, context));
}

Result<ChatModel::Asked> ChatModel::ask(ChatRequest& request) const {
  const int64_t context = context_of(request);
  MYNAH_TRY(RenderedPrompt rendered, prompt_.render(request));
  Asked asked;
  if (request.too_long == TooLong::LeaveOut) {
    // A reply of some sentences has room at least.
    constexpr int64_t kSentences = 256;
    const int64_t wanted = request.choice.most_tokens > 0 ? request.choice.most_tokens : kSentences;
    const int64_t room = std::min(wanted, context / 4);
    MYNAH_TRY(Shortened shortened, shorten(prompt_, request, std::move(rendered), context, room));
    rendered = std::move(shortened.prompt);
    request.messages = std::move(shortened.messages);
    if (shortened.left_out > 0) {
      asked.notes.push_back(
          {.code = "messages_left_out",
           .text = fmt::format("the {} oldest messages were left out: the conversation has no room "
                               "in {} tokens",
                               shortened.left_out, context)});
    }
  }
  if (!request.tools.empty() && !prompt_.takes_tools()) {
    asked.notes.push_back({.code = "tools_told_in_words",
                           .text = "the model's chat template knows no tools: they were told to it "
                                   "in words, and it may call none, or badly"});
  }
  asked.tokens = std::move(rendered.tokens);
  asked.forks = {rendered.said};
  asked.format = prompt_.format();
  asked.options = {.control_markers = constraints_.controls(),
                   .prompt_end = std::move(rendered.end),
                   .tools = tools_of(request.tools),
                   .lone_calls = !request.constraint.has_value(),
                   .id_seed = 0};
  asked.most_tokens = request.choice.most_tokens;
  if (context < facts().context) {
    // A prompt without room is refused before.
    const int64_t room = std::max<int64_t>(1, context - std::ssize(asked.tokens));
    asked.most_tokens = asked.most_tokens > 0 ? std::min(asked.most_tokens, room) : room;
  }
  return asked;
}

Status ChatModel::add_rule(const ChatRequest& request, const ThinkingPlan& thinking, Asked& asked) {
  ReplyRules rules{.thoughts = thoughts_,
                   .thinks = begins_thought(thoughts_, asked.options.prompt_end),
                   .most_thought = thinking.most_tokens,
                   .content = nullptr,
                   .calls = {}};
  if (request.constraint) {
    MYNAH_TRY(rules.content, constraints_.answer(*request.constraint));
    asked.content = rules.content;
  } else if (!asked.options.tools.empty()) {
    MYNAH_TRY_STATUS(add_calls(request, asked, rules));
  }
  if (rules.content != nullptr || rules.calls.constraint != nullptr || rules.most_thought >= 0) {
    asked.rules = std::move(rules);
  }
  return {};
}

Status ChatModel::add_calls(const ChatRequest& request, Asked& asked, ReplyRules& rules) {
  // One that is named comes once.
  const std::string named = request.must_call.value_or("");
  ReplyConstraints::CallWish wish{.several = !request.one_call && named.empty(),
                                  .must_come = request.must_call.has_value(),
                                  .behind_thought = !thoughts_.begin.empty()};
  std::vector<ReplyTool> tools = asked.options.tools;
  if (!named.empty()) {
    std::erase_if(tools, [&](const ReplyTool& tool) { return tool.name != named; });
  }
  MYNAH_TRY(auto calls, constraints_.calls(asked.format.calls, tools, wish));
  std::ranges::move(calls.notes, std::back_inserter(asked.notes));
  if (!wish.must_come) {
    rules.calls = std::move(calls.rules);
    return {};
  }
  rules.content = std::move(calls.rules.constraint);
  rules.may_think = rules.most_thought != 0;
  // Calls are what begins there.
  rules.thoughts.answer.clear();
  return {};
}

std::string ChatModel::shown(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens) {
    text += prompt_.tokenizer().bytes(token);
  }
  constexpr size_t kMost = 160;
  text.resize(std::min(text.size(), kMost));
  return ChatRequest::Json(replace_invalid_utf8(text)).dump();
}

void ChatModel::add_notes(const Asked& asked, const ReplyRule* rule, ChatReply& reply) const {
  reply.notes = asked.notes;
  if (const auto& change = reply.spent.change) {
    reply.notes.push_back(
        {.code = "prompt_changed_early",
         .text = fmt::format("{} tokens that are the same as before were read again, as the prompt "
                             "differs at token {} before them, where it says {} now; put what "
                             "changes, as the time, behind what stays",
                             change->alike_behind, change->position, shown(change->now))});
  }
  if (rule != nullptr && rule->ended_thought()) {
    reply.notes.push_back({.code = "thought_ended",
                           .text = fmt::format("the thought was ended after {} tokens, as many as "
                                               "it may have",
                                               reply.thought_tokens)});
  }
  const bool is_cut = reply.end == ReplyEnd::Length || reply.end == ReplyEnd::NoContext;
  if (asked.content != nullptr && is_cut) {
    grammar::ConstraintState form(asked.content);
    if (!form.accept(reply.message.content) || !form.may_end()) {
      reply.notes.push_back({.code = std::string(kFormCutNote),
                             .text = fmt::format("the answer was cut at {} tokens, and is not a "
                                                 "whole one in its form",
                                                 reply.spent.tokens)});
    }
  }
}

Result<ChatReply> ChatModel::reply(const ChatRequest& request, ChatObserver& observer,
                                   const std::stop_token& stop) {
  const std::array<ChatObserver*, 1> observers = {&observer};
  MYNAH_TRY(std::vector<ChatReply> one, replies(request, observers, stop));
  return std::move(one.front());
}

Result<std::vector<ChatReply>> ChatModel::replies(const ChatRequest& request,
                                                  std::span<ChatObserver* const> observers,
                                                  const std::stop_token& stop) {
  ChatRequest own = request;
  ThinkingPlan thinking = plan_thinking(own.thinking, prompt_.template_source(), thoughts_);
  // What a client says to the template by name comes first.
  thinking.template_arguments.update(own.template_arguments);
  own.template_arguments = thinking.template_arguments;
  MYNAH_TRY(Asked asked, ask(own));
  std::ranges::move(thinking.notes, std::back_inserter(asked.notes));
  MYNAH_TRY_STATUS(add_rule(own, thinking, asked));
  MYNAH_TRY(std::vector<ChatReply> replies, run({&asked, 1}, own, observers, stop));
  // Of several the last one: nobody knows yet which the conversation goes on with.
  const ChatReply& reply = replies.back();
  const bool said = reply.end == ReplyEnd::Whole || reply.end == ReplyEnd::Stop;
  if (said && !reply.message.reasoning.empty() && !own.owner.empty()) {
    queue_.foresee(own.owner, own.conversation, [this, own, content = reply.message.content] {
      return beginning_of_next_turn(prompt_, own, content);
    });
  }
  return replies;
}

Result<std::vector<ChatReply>> ChatModel::go_on(std::span<const std::string> texts,
                                                const ChatRequest& request,
                                                std::span<ChatObserver* const> observers,
                                                const std::stop_token& stop) {
  std::vector<Asked> all;
  for (const std::string& text : texts) {
    Asked& asked = all.emplace_back();
    asked.tokens = prompt_.of_text(text);
    asked.most_tokens = request.choice.most_tokens;
    if (asked.tokens.empty()) {
      return fail(ErrorCode::InvalidInput, "wanted a text to go on with, found none");
    }
    MYNAH_TRY_STATUS(add_rule(request, {}, asked));
  }
  return run(all, request, observers, stop);
}

Status ChatModel::warm_up() {
  ChatRequest request;
  request.choice.most_tokens = 1;
  ChatObserver nobody;
  const std::array<ChatObserver*, 1> observers = {&nobody};
  const std::array<std::string, 1> texts = {"a"};
  MYNAH_TRY_STATUS(go_on(texts, request, observers, {}));
  return {};
}

}  // namespace mynah
