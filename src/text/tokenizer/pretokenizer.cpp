#include "text/tokenizer/pretokenizer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"

MYNAH_EMBEDDED_FILE(pretokenizers, MYNAH_TOKENIZER_FOLDER "/pretokenizers.tsv")

namespace mynah {
namespace {

// One block of the table.
struct PreTokenizerEntry {
  std::vector<std::string_view> names;
  std::vector<std::string_view> with;

  struct Pass {
    std::string_view split;
    std::string_view skip;
  };

  std::vector<Pass> passes;
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::vector<PreTokenizerEntry> read_pretokenizers() {
  std::vector<PreTokenizerEntry> entries;
  for_each_tsv_line<2>(pretokenizers(), [&](const auto& fields) {
    const auto [kind, value] = fields;
    if (kind == "names") {
      entries.emplace_back().names = words_of(value);
    } else if (kind == "with") {
      entries.back().with.push_back(value);
    } else if (kind == "split") {
      entries.back().passes.push_back({.split = value, .skip = {}});
    } else {
      MYNAH_CHECK(kind == "skip", "a line of pretokenizers.tsv is names, with, split or skip");
      entries.back().passes.back().skip = value;
    }
  });
  return entries;
}

}  // namespace

std::vector<std::string_view> PreTokenizer::names() {
  std::vector<std::string_view> names;
  for (const PreTokenizerEntry& entry : read_pretokenizers()) {
    names.insert(names.end(), entry.names.begin(), entry.names.end());
  }
  return names;
}

Result<PreTokenizer> PreTokenizer::create(std::string_view name) {
  const std::vector<PreTokenizerEntry> entries = read_pretokenizers();
  const auto entry = std::ranges::find_if(entries, [&](const PreTokenizerEntry& one) {
    return std::ranges::find(one.names, name) != one.names.end();
  });
  if (entry == entries.end()) {
    return fail(ErrorCode::Unsupported,
                fmt::format("the pre-tokenizer {} (tokenizer.ggml.pre) is none that mynah knows: "
                            "without it the text would be cut in other places than in training; "
                            "use another model",
                            name));
  }
  PreTokenizer pretokenizer;
  const auto has = [&](std::string_view what) {
    return std::ranges::find(entry->with, what) != entry->with.end();
  };
  pretokenizer.whole_words_ = has("whole-words");
  pretokenizer.adds_bos_ = has("bos");
  for (const auto& [split, skip] : entry->passes) {
    MYNAH_TRY(Splitter splitter, Splitter::create(split, skip));
    pretokenizer.passes_.push_back(std::move(splitter));
  }
  return pretokenizer;
}

}  // namespace mynah
