// The files that English is read by in tests: a few words of our own, and the wheel's.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "test_paths.h"
#include "text/phonemes/phonemizer.h"

namespace mynah::test {

// A lexicon of about eighty words, American.
inline EnglishFiles small_english() {
  return english_files_in(source_path("tests/text/data/small_english"), /*british=*/false);
}

// What tools/g2p_oracle.py wrote.
inline std::string english_oracle(const std::string& name) {
  return (std::filesystem::path(folder_from("MYNAH_ORACLES", ".cache/oracles")) / "english" / name)
      .string();
}

inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

// The 2,000 sentences that the oracle read.
inline std::vector<std::string> english_sentences() {
  std::vector<std::string> sentences =
      lines_of(source_path("tests/text/data/english_sentences.txt"));
  std::erase_if(sentences, [](const std::string& line) { return line.starts_with("# "); });
  return sentences;
}

// Words and phonemes, a pair a line with a tab between them: an oracle's network as a table.
class WordTable : public UnknownWords {
 public:
  explicit WordTable(const std::string& path) {
    for (const std::string& line : lines_of(path)) {
      const size_t tab = line.find('\t');
      words_.emplace_back(line.substr(0, tab));
      phonemes_[words_.back()] = line.substr(tab + 1);
    }
  }

  [[nodiscard]] std::string pronounce(std::string_view word) const override {
    const auto found = phonemes_.find(std::string(word));
    return found == phonemes_.end() ? "?" + std::string(word) : found->second;
  }

  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::string> phonemes_;
};

}  // namespace mynah::test
