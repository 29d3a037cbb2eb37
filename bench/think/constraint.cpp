#include "constraint.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "chat/chat_model.h"
#include "formats/open.h"
#include "timed_model.h"

namespace mynah::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;
using Kind = grammar::ConstraintSource::Kind;

constexpr std::array<const char*, 4> kForms = {"schema", "json", "regex", "call"};
constexpr int64_t kTokens = 48;

// Texts side by side, with guesses or without.
struct Company {
  const char* name;
  int texts;
  bool guesses;
};

constexpr std::array<Company, 3> kCompanies = {{{.name = "one", .texts = 1, .guesses = false},
                                                {.name = "eight", .texts = 8, .guesses = false},
                                                {.name = "guesses", .texts = 1, .guesses = true}}};

double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// A person as programs ask for one. `salt` makes it a schema of its own.
Json person(int salt) {
  return {{"type", "object"},
          {"description", fmt::format("Round {}.", salt)},
          {"properties",
           {{"name", {{"type", "string"}, {"maxLength", 40}}},
            {"age", {{"type", "integer"}, {"minimum", 0}, {"maximum", 120}}},
            {"trade", {{"type", "string"}, {"enum", {"baker", "smith", "miller", "teacher"}}}},
            {"email", {{"type", "string"}, {"pattern", "^[a-z]{3,12}@[a-z]{3,12}\\.org$"}}},
            {"address",
             {{"type", "object"},
              {"properties", {{"street", {{"type", "string"}}}, {"number", {{"type", "integer"}}}}},
              {"required", {"street", "number"}},
              {"additionalProperties", false}}},
            {"married", {{"type", "boolean"}}},
            {"likes", {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 2}}}}},
          {"required", {"name", "age", "trade", "email", "address", "married", "likes"}},
          {"additionalProperties", false}};
}

Json people(int salt) {
  return {
      {"type", "object"},
      {"properties", {{"people", {{"type", "array"}, {"items", person(salt)}, {"minItems", 8}}}}},
      {"required", {"people"}},
      {"additionalProperties", false}};
}

ChatRequest request_of(const std::string& form, int salt) {
  ChatRequest request;
  request.messages = {{{"role", "user"},
                       {"content",
                        "Tell me of the people in a village: their names, what they do, "
                        "where they live and what they like."}}};
  request.choice.most_tokens = kTokens;
  request.choice.sampling.temperature = 0.7F;
  request.choice.sampling.top_k = 40;
  request.choice.sampling.top_p = 0.95F;
  request.choice.sampling.min_p = 0.05F;
  request.owner = "bench";
  grammar::ConstraintSource source;
  if (form == "schema") {
    source.kind = Kind::JsonSchema;
    source.text = people(salt).dump();
  } else if (form == "json") {
    // JSON that goes on.
    source.kind = Kind::JsonSchema;
    source.text =
        fmt::format(R"({{"type": "object", "minProperties": 24, "description": "{}"}})", salt);
  } else if (form == "regex") {
    source.kind = Kind::Regex;
    source.text = fmt::format(
        "Round {}(\\n- [A-Z][a-z]{{2,12}}( [a-z]{{1,12}}){{3,9}}, born "
        "1[89]\\d\\d-\\d\\d-\\d\\d\\.){{8}}",
        salt);
  } else if (form == "call") {
    request.tools = {{{"type", "function"},
                      {"function", {{"name", "note_people"}, {"parameters", people(salt)}}}}};
    request.must_call = "";
  }
  if (form == "schema" || form == "json" || form == "regex") {
    request.constraint = std::move(source);
  }
  return request;
}

// A plain one with a prompt as long.
ChatRequest plain_of(const ChatRequest& request) {
  ChatRequest plain = request;
  plain.constraint.reset();
  plain.must_call.reset();
  if (!plain.tools.empty()) {
    plain.messages.back()["content"] =
        plain.messages.back()["content"].get<std::string>() + plain.tools.dump();
    plain.tools = Json::array();
  }
  return plain;
}

// Reads a request's prompt, so that many replies that have it begin at once.
Status read_prompt(ChatModel& chat, ChatRequest request) {
  request.constraint.reset();
  request.must_call.reset();
  request.choice.most_tokens = 1;
  ChatObserver nobody;
  MYNAH_TRY(const ChatReply reply, chat.reply(request, nobody, {}));
  static_cast<void>(reply);
  return {};
}

// What replies took.
struct Took {
  double token_ms = 0;  // of a text, by the medians of steps
  double first_ms = 0;  // until the first token, in the mean
};

// So many replies side by side.
Result<Took> write(ChatModel& chat, const TimedModel& timed, const ChatRequest& request,
                   int side_by_side) {
  static_cast<void>(timed.take_steps());
  std::vector<Result<ChatReply>> replies(static_cast<size_t>(side_by_side), ChatReply());
  std::vector<double> took(replies.size());
  {
    std::vector<std::jthread> all;
    all.reserve(replies.size());
    for (size_t i = 0; i < replies.size(); ++i) {
      all.emplace_back([&, i] {
        ChatRequest own = request;
        own.choice.seed = i;
        ChatObserver nobody;
        const auto begun = Clock::now();
        replies[i] = chat.reply(own, nobody, {});
        took[i] = ms_between(begun, Clock::now());
      });
    }
  }
  Took all;
  int64_t tokens = 0;
  for (size_t i = 0; i < replies.size(); ++i) {
    MYNAH_TRY(const ChatReply reply, std::move(replies[i]));
    all.first_ms += (took[i] - reply.spent.written_ms) / side_by_side;
    // The first one came with the prompt.
    tokens += std::max<int64_t>(1, reply.spent.tokens - 1);
  }
  std::vector<TimedStep> steps = timed.take_steps();
  if (side_by_side > 1) {
    std::erase_if(steps, [&](const TimedStep& step) { return step.texts != replies.size(); });
    tokens = std::ssize(steps);
  }
  all.token_ms = sum_by_medians(steps) / static_cast<double>(tokens);
  return all;
}

// A form's replies beside plain ones of the same time.
struct Compared {
  std::vector<double> used;  // a token's time, of that of a plain one
  std::vector<double> fresh;
  std::vector<double> first_ms;
  std::vector<double> fresh_first_ms;

  [[nodiscard]] Json row() const {
    return {{"of_plain", median(used)},
            {"new_of_plain", median(fresh)},
            {"first_ms", median(first_ms)},
            {"new_first_ms", median(fresh_first_ms)}};
  }
};

}  // namespace

Result<Json> measure_constraint(const std::string& path,
                                const std::shared_ptr<const LanguageModel>& model, int rounds) {
  MYNAH_TRY(const TensorFile file, open_tensor_file(path));
  Json found;
  int salt = 0;
  for (const Company& company : kCompanies) {
    const auto timed = std::make_shared<TimedModel>(model);
    GenerationQueue::Limits limits;
    limits.guesses = company.guesses ? limits.guesses : 0;
    MYNAH_TRY(const auto chat, ChatModel::open(file, timed, limits));
    MYNAH_TRY_STATUS(chat->warm_up());
    std::map<std::string, Compared> forms;
    for (int round = 0; round < rounds; ++round) {
      ++salt;
      for (const std::string form : kForms) {
        const ChatRequest request = request_of(form, salt);
        const ChatRequest without = plain_of(request);
        MYNAH_TRY_STATUS(read_prompt(*chat, request));
        MYNAH_TRY_STATUS(read_prompt(*chat, without));
        MYNAH_TRY(const Took fresh, write(*chat, *timed, request, company.texts));
        MYNAH_TRY(const Took used, write(*chat, *timed, request, company.texts));
        MYNAH_TRY(const Took plain, write(*chat, *timed, without, company.texts));
        Compared& compared = forms[form];
        compared.used.push_back(used.token_ms / plain.token_ms);
        compared.fresh.push_back(fresh.token_ms / plain.token_ms);
        compared.first_ms.push_back(used.first_ms);
        compared.fresh_first_ms.push_back(fresh.first_ms);
      }
    }
    for (const auto& [form, compared] : forms) {
      found[company.name][form] = compared.row();
    }
  }
  return found;
}

}  // namespace mynah::bench
