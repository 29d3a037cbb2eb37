// Measures masks, by hand: mask_bench VOCABULARY.gguf CASES.jsonl, whose lines are constraints with
// texts that fit (constraint_check.cpp). Tells what a token's mask and step take the first time,
// and when another sequence was there before.
#include <ctime>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "constraint_cases.h"
#include "gguf_vocabulary.h"

namespace mynah::grammar {
namespace {

// The thread's own time, in seconds: others may be busy.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + (1e-9 * static_cast<double>(time.tv_nsec));
}

double microseconds(double since) {
  return 1e6 * (now() - since);
}

int32_t longest_token(const TokenVocabulary& vocabulary, std::string_view rest) {
  int32_t longest = -1;
  size_t length = 0;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.bytes(id).size() > length && rest.starts_with(vocabulary.bytes(id))) {
      longest = id;
      length = vocabulary.bytes(id).size();
    }
  }
  return longest;
}

struct Times {
  double sum = 0;
  double most = 0;
};

Times run(const std::shared_ptr<const Constraint>& constraint, const std::vector<int32_t>& tokens) {
  ConstraintState state(constraint);
  std::vector<uint32_t> bits(constraint->vocabulary().mask_words());
  Times times;
  for (const int32_t token : tokens) {
    const auto begin = now();
    const Status masked = state.mask(bits);
    const Status taken = state.accept(token);
    const double took = microseconds(begin);
    if (!masked || !taken || !has_token_bit(bits, token)) {
      fmt::print("token {} is not taken\n", token);
    }
    times.sum += took;
    times.most = std::max(times.most, took);
  }
  return times;
}

void measure(const nlohmann::ordered_json& one,
             const std::shared_ptr<const TokenVocabulary>& vocabulary) {
  for (const auto& text : one.at("texts")) {
    std::vector<int32_t> tokens;
    const auto whole = text.get<std::string>();
    for (size_t at = 0; at < whole.size(); at += vocabulary->bytes(tokens.back()).size()) {
      tokens.push_back(longest_token(*vocabulary, std::string_view(whole).substr(at)));
    }
    const auto begin = now();
    const auto constraint = compiled(source_of(one), vocabulary);
    if (!constraint) {
      fmt::print("{}\n", constraint.error().message);
      return;
    }
    const double compiling = microseconds(begin);
    const Times first = run(*constraint, tokens);
    const Times second = run(*constraint, tokens);
    const auto count = static_cast<double>(tokens.size());
    fmt::print(
        "{:12} {:3} tokens: compiled in {:8.0f} us; a token {:7.1f} us (most {:7.0f}), again "
        "{:5.2f} "
        "us (most {:4.0f}); {} kB\n",
        one.value("name", ""), tokens.size(), compiling, first.sum / count, first.most,
        second.sum / count, second.most, (*constraint)->bytes_kept() / 1024);
  }
}

}  // namespace
}  // namespace mynah::grammar

int main(int /*count*/, char** arguments) {
  const auto begin = mynah::grammar::now();
  const auto vocabulary = mynah::grammar::gguf_vocabulary(arguments[1]);
  if (!vocabulary) {
    fmt::print("{}\n", vocabulary.error().message);
    return 1;
  }
  fmt::print("{} tokens, ready in {:.0f} us, trie {} kB\n", (*vocabulary)->size(),
             mynah::grammar::microseconds(begin), (*vocabulary)->trie().bytes_kept() / 1024);
  std::ifstream cases(arguments[2]);
  for (std::string line; std::getline(cases, line);) {
    mynah::grammar::measure(nlohmann::ordered_json::parse(line), *vocabulary);
  }
}
