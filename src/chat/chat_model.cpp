#include "chat/chat_model.h"

#include <thread>
#include <utility>

#include "chat/constraint_rule.h"
#include "chat/reply_stream.h"
#include "formats/open.h"

namespace mynah {
namespace {

// The tokens' bytes, as a constraint looks at them.
Result<std::shared_ptr<const grammar::TokenVocabulary>> vocabulary_of(
    const TextTokenizer& tokenizer) {
  std::vector<std::string> bytes;
  std::vector<int32_t> control;
  bytes.reserve(static_cast<size_t>(tokenizer.size()));
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    bytes.emplace_back(tokenizer.bytes(id));
    if (tokenizer.is_mark(id)) {
      control.push_back(id);
    }
  }
  return grammar::TokenVocabulary::create(
      {.bytes = bytes, .control = control, .ends = tokenizer.special().reply_ends});
}

// What a thought that the prompt began ends with; "": it began none.
std::string end_of_thought(const ThoughtFormat& thoughts, const std::string& prompt_end) {
  if (thoughts.begin.empty()) {
    return {};
  }
  const size_t begin = prompt_end.rfind(thoughts.begin);
  const size_t end = prompt_end.rfind(thoughts.end);
  const bool open = begin != std::string::npos && (end == std::string::npos || end < begin);
  return open ? thoughts.end : std::string();
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
                   .parameters = parameters == function->end() ? "{}" : parameters->dump()});
  }
  return all;
}

// Places of a grammar: those of a schema with some twenty properties.
constexpr int kLookedAhead = 512;

}  // namespace

ChatModel::ChatModel(ChatPrompt prompt, std::shared_ptr<const LanguageModel> model,
                     GenerationQueue::Limits limits)
    : prompt_(std::move(prompt)), queue_(std::move(model), limits) {
  const TextTokenizer& tokenizer = prompt_.tokenizer();
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    if (tokenizer.is_mark(id)) {
      control_markers_.emplace(tokenizer.bytes(id));
    }
  }
}

Result<std::unique_ptr<ChatModel>> ChatModel::open(const std::string& path,
                                                   std::shared_ptr<const LanguageModel> model,
                                                   GenerationQueue::Limits limits) {
  MYNAH_TRY(const TensorFile file, open_tensor_file(path));
  MYNAH_TRY(ChatPrompt prompt, ChatPrompt::read(file));
  if (prompt.tokenizer().size() > model->facts().vocabulary) {
    return fail(ErrorCode::InvalidInput,
                path + ": its tokenizer has more tokens than its model has logits");
  }
  return std::unique_ptr<ChatModel>(new ChatModel(std::move(prompt), std::move(model), limits));
}

Result<std::shared_ptr<const grammar::Constraint>> ChatModel::constraint_of(
    const grammar::ConstraintSource& source) {
  {
    const std::lock_guard lock(mutex_);
    if (constraints_ == nullptr) {
      MYNAH_TRY(auto vocabulary, vocabulary_of(prompt_.tokenizer()));
      constraints_ = std::make_unique<grammar::ConstraintCache>(std::move(vocabulary));
    }
  }
  return constraints_->get(source);
}

GenerationTask ChatModel::task_of(const Asked& asked, const ChatRequest& request) const {
  return {.prompt = asked.tokens,
          .options = {.sampling = request.choice.sampling,
                      .remembered = request.choice.remembered,
                      .seed = request.choice.seed,
                      .most_tokens = request.choice.most_tokens,
                      .ends = prompt_.tokenizer().special().reply_ends,
                      .alternatives = request.choice.alternatives,
                      .rule = nullptr},
          .owner = request.owner,
          .urgency = request.urgency,
          .on_token = nullptr};
}

Result<ChatReply> ChatModel::run(Asked asked, const ChatRequest& request, ChatObserver& observer,
                                 const std::stop_token& stop) {
  GenerationTask task = task_of(asked, request);
  // Looks ahead while the prompt is read, so that the first tokens do not wait for it.
  std::jthread ahead;
  if (request.constraint) {
    MYNAH_TRY(const auto constraint, constraint_of(*request.constraint));
    ahead = std::jthread([constraint] { constraint->prepare(kLookedAhead); });
    task.options.rule = std::make_shared<ConstraintRule>(
        constraint, prompt_.tokenizer(),
        end_of_thought(asked.format.thoughts, asked.options.prompt_end));
  }
  MYNAH_TRY_STATUS(observer.on_begin(std::ssize(task.prompt)));
  const auto stream =
      std::make_shared<ReplyStream>(prompt_.tokenizer(), asked.format, std::move(asked.options),
                                    request.choice.stops, request.choice.alternatives >= 0);
  task.on_token = [stream](const ChosenToken& chosen) { return stream->push(chosen); };
  std::stop_source own;
  const std::stop_callback passes(stop, [&own] { own.request_stop(); });
  MYNAH_TRY_STATUS(queue_.submit(std::move(task), own.get_token(), [stream](Result<Generated> end) {
    stream->finish(std::move(end));
  }));
  Status told;
  while (const auto delta = stream->take()) {
    if (told) {
      told = observer.on_delta(*delta);
      if (!told) {
        own.request_stop();  // what is still written is taken and told nobody
      }
    }
  }
  MYNAH_TRY_STATUS(std::move(told));
  return stream->reply();
}

Result<ChatReply> ChatModel::reply(const ChatRequest& request, ChatObserver& observer,
                                   const std::stop_token& stop) {
  MYNAH_TRY(RenderedPrompt rendered, prompt_.render(request));
  Asked asked{.tokens = std::move(rendered.tokens),
              .format = prompt_.format(),
              .options = {.control_markers = control_markers_,
                          .prompt_end = std::move(rendered.end),
                          .tools = tools_of(request.tools),
                          .id_seed = request.choice.seed}};
  return run(std::move(asked), request, observer, stop);
}

Result<ChatReply> ChatModel::go_on(std::string_view text, const ChatRequest& request,
                                   ChatObserver& observer, const std::stop_token& stop) {
  Asked asked{.tokens = prompt_.of_text(text), .format = {}, .options = {}};
  if (asked.tokens.empty()) {
    return fail(ErrorCode::InvalidInput, "wanted a text to go on with, found none");
  }
  return run(std::move(asked), request, observer, stop);
}

Status ChatModel::warm_up() {
  ChatRequest request;
  request.choice.most_tokens = 1;
  ChatObserver nobody;
  MYNAH_TRY_STATUS(go_on("a", request, nobody, {}));
  return {};
}

}  // namespace mynah
