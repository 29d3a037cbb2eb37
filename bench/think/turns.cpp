#include "turns.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "chat/chat_model.h"
#include "chat/generation_queue.h"
#include "formats/open.h"
#include "timed_model.h"

namespace mynah::bench {
namespace {

constexpr int64_t kFirstTurn = 2000;  // tokens
constexpr int64_t kReply = 64;
constexpr int64_t kSecondQuestion = 30;
constexpr int64_t kKept = 1500;
constexpr int64_t kNew = 40;
constexpr int64_t kClause = 16;  // of twelve words

std::vector<int32_t> some_tokens(int64_t count, int64_t vocabulary, int64_t salt) {
  std::vector<int32_t> tokens;
  tokens.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<int32_t>((i * 7919 + 17 * salt + 5) % vocabulary));
  }
  return tokens;
}

struct Written {
  std::vector<int32_t> tokens;  // the prompt, and what followed
  double first_ms = 0;
  double all_ms = 0;
};

Result<Written> write(GenerationQueue& queue, std::vector<int32_t> prompt, int64_t count) {
  Written written{.tokens = prompt};
  GenerationTask task;
  task.prompt = std::move(prompt);
  task.options.most_tokens = count;
  task.owner = "bench";
  task.on_token = [&written](const ChosenToken& chosen) {
    written.tokens.push_back(chosen.token);
    return true;
  };
  MYNAH_TRY(const Generated done, queue.write(std::move(task), {}));
  written.first_ms = done.queued_ms + done.prompt_ms;
  written.all_ms = written.first_ms + done.written_ms;
  return written;
}

}  // namespace

Result<nlohmann::ordered_json> measure_turns(const std::shared_ptr<const LanguageModel>& model,
                                             int rounds) {
  const int64_t vocabulary = model->facts().vocabulary;
  GenerationQueue queue(model);
  std::vector<double> first;
  std::vector<double> second;
  std::vector<double> clause;
  for (int round = 0; round < rounds; ++round) {
    queue.forget("bench");
    MYNAH_TRY(Written one, write(queue, some_tokens(kFirstTurn, vocabulary, 2 * round), kReply));
    first.push_back(one.first_ms);
    const auto question = some_tokens(kSecondQuestion, vocabulary, 2 * round + 1);
    one.tokens.insert(one.tokens.end(), question.begin(), question.end());
    MYNAH_TRY(const Written two, write(queue, one.tokens, 1));
    second.push_back(two.first_ms);
    queue.forget("bench");
    MYNAH_TRY(Written kept, write(queue, some_tokens(kKept, vocabulary, 1000 + round), 1));
    const auto more = some_tokens(kNew, vocabulary, 2000 + round);
    kept.tokens.insert(kept.tokens.end(), more.begin(), more.end());
    MYNAH_TRY(const Written spoken, write(queue, kept.tokens, kClause));
    clause.push_back(spoken.all_ms);
  }
  return nlohmann::ordered_json{{"first_turn_ms", median(first)},
                                {"second_turn_ms", median(second)},
                                {"clause_ms", median(clause)}};
}

namespace {

constexpr std::array<const char*, 2> kQuestions = {
    // Its answer repeats most of it.
    "Rename the variable `total` to `sum` in this code and give me all of the code again:\n\n"
    "```python\ndef average(numbers):\n    total = 0\n    count = 0\n    for number in numbers:\n"
    "        total = total + number\n        count = count + 1\n    if count == 0:\n"
    "        raise ValueError(\"there are no numbers to take the average of\")\n"
    "    return total / count\n\n\ndef spread(numbers):\n    middle = average(numbers)\n"
    "    total = 0\n    for number in numbers:\n"
    "        total = total + (number - middle) * (number - middle)\n"
    "    return total / len(numbers)\n```",
    // Drawn freely, it goes where it likes.
    "Tell me a long story about a lighthouse keeper, a storm and a letter that came too late."};

}  // namespace

Result<nlohmann::ordered_json> measure_guesses(const std::string& path,
                                               const std::shared_ptr<const LanguageModel>& model,
                                               int rounds) {
  MYNAH_TRY(const TensorFile file, open_tensor_file(path));
  nlohmann::ordered_json found;
  for (size_t i = 0; i < kQuestions.size(); ++i) {
    std::array<std::vector<double>, 2> rates;
    std::array<std::string, 2> texts;
    std::array<double, 2> steps_ms = {};
    int64_t guessed = 0;
    int64_t right = 0;
    std::array<std::shared_ptr<TimedModel>, 2> timed;
    std::array<std::unique_ptr<ChatModel>, 2> chats;
    for (size_t guesses = 0; guesses < 2; ++guesses) {
      GenerationQueue::Limits limits;
      limits.guesses = guesses == 0 ? 0 : limits.guesses;
      // Prompts in one piece: another number of pieces rounds otherwise.
      limits.step_ms = 1e9;
      timed[guesses] = std::make_shared<TimedModel>(model);
      MYNAH_TRY(chats[guesses], ChatModel::open(file, timed[guesses], limits));
    }
    ChatRequest request;
    request.messages = {{{"role", "user"}, {"content", kQuestions[i]}}};
    request.choice.most_tokens = 200;
    request.choice.sampling.temperature = i == 0 ? 0.0F : 1.0F;
    for (int round = 0; round < rounds; ++round) {
      request.choice.seed = static_cast<uint64_t>(round);
      for (size_t guesses = 0; guesses < 2; ++guesses) {
        ChatObserver nobody;
        MYNAH_TRY(const ChatReply reply, chats[guesses]->reply(request, nobody, {}));
        rates[guesses].push_back(1e3 * static_cast<double>(reply.spent.tokens) /
                                 reply.spent.written_ms);
        texts[guesses] += reply.message.content;
        guessed += reply.spent.guessed;
        right += reply.spent.guessed_right;
      }
    }
    for (size_t guesses = 0; guesses < 2; ++guesses) {
      steps_ms[guesses] = sum_by_medians(timed[guesses]->take_steps());
    }
    if (texts[0] != texts[1]) {
      return fail(ErrorCode::InvalidInput, "a text is another one with guesses");
    }
    const std::string name = i == 0 ? "repeating" : "free";
    found[name + "_per_s"] = median(rates[1]);
    found[name + "_without_guesses_per_s"] = median(rates[0]);
    found[name + "_by_steps"] = steps_ms[0] / steps_ms[1];
    found[name + "_guessed"] = static_cast<double>(guessed) / rounds;
    found[name + "_guessed_right"] = static_cast<double>(right) / rounds;
  }
  return found;
}

}  // namespace mynah::bench
