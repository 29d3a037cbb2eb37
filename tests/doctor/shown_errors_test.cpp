// What the doctor says that a user will see ("shows as") is, pasted into `explain`, explained: the
// texts are read out of the rules' own sources, so that no rule can add one that nobody explains.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/errors/explain.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A string literal of C++ at `at`, with what stands next to it joined to it; `at` is behind it
// then.
std::string joined_literal(std::string_view code, size_t& at) {
  std::string text;
  while (at < code.size() && code[at] == '"') {
    for (++at; at < code.size() && code[at] != '"'; ++at) {
      if (code[at] == '\\') {
        ++at;
      }
      text += code[at];
    }
    ++at;
    at = std::min(code.find_first_not_of(" \n", at), code.size());
  }
  return text;
}

// The literals of a statement that are texts of errors: none that something is compared with, no id
// of an error, and none that is added to another.
std::vector<std::string> literals(std::string_view statement) {
  std::vector<std::string> texts;
  for (size_t at = statement.find('"'); at < statement.size(); at = statement.find('"', at)) {
    const std::string_view before =
        statement.substr(0, statement.substr(0, at).find_last_not_of(" \n") + 1);
    const std::string text = joined_literal(statement, at);
    const bool is_text = !before.ends_with("==") && !before.ends_with("starts_with(") &&
                         !before.ends_with("ends_with(") && !before.ends_with("+") &&
                         text.contains(' ');
    if (is_text || text == "ResolutionImpossible") {
      texts.push_back(text);
    }
  }
  return texts;
}

// The text with something in its braces, as the rules would put it there.
std::string filled_in(std::string text) {
  std::string_view value = "570.124.06";
  // By what the text says, what its values are like; the first that it contains.
  for (const auto& [part, example] : std::initializer_list<std::pair<const char*, const char*>>{
           {"undefined symbol", "__nvJitLinkComplete_12_4"},
           {"libcublas.so.{}", "12"},
           {".so.{}", "9"},
           {"cuda>={}", "12.9"},
           {"compute_", "120"},
           {"gcc versions", "14"},
           {"version {})", "12040"},
           {"Unable to load any of", "libcudnn_graph.so.9"},
           {"{}: No such file", "nv/target"},
           {"ibrary", "libcublas.so.12"},
           {"shared object", "libcublas.so.12"}}) {
    if (text.contains(part)) {
      value = example;
      break;
    }
  }
  for (size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}", at)) {
    text.replace(at, 2, value);
    at += value.size();
  }
  for (const std::string_view brace : {"{{", "}}"}) {
    for (size_t at = text.find(brace); at != std::string::npos; at = text.find(brace, at)) {
      text.erase(at, 1);
      ++at;
    }
  }
  return text;
}

// All texts that the sources of the rules give to a finding or a problem as its error.
std::vector<std::string> shown_texts() {
  std::vector<std::string> texts;
  const auto add = [&](std::string_view statement) {
    for (std::string& text : literals(statement)) {
      texts.push_back(std::move(text));
    }
  };
  for (const auto& entry : fs::recursive_directory_iterator(MYNAH_SOURCE_DIR "/src/doctor")) {
    if (entry.path().extension() != ".cpp") {
      continue;
    }
    const std::string code = text_of(entry.path());
    for (const std::string_view given : {"finding.error =", "problem.error ="}) {
      for (size_t at = code.find(given); at != std::string::npos; at = code.find(given, at + 1)) {
        add(std::string_view(code).substr(at, code.find(";\n", at) - at));
      }
    }
    for (const std::string_view made : {"\nstd::string load_error(", "\nstd::string error_of("}) {
      if (const size_t at = code.find(made); at != std::string::npos) {
        add(std::string_view(code).substr(at, code.find("\n}\n", at) - at));
      }
    }
  }
  return texts;
}

}  // namespace

TEST(ShownErrors, AreReadOutOfTheRules) {
  EXPECT_THAT(literals("problem.error =\n  name == \"a b\"\n ? fmt::format(\"no {} \"\n \"is\", x)"
                       " : \"was \\\"it\\\"\""),
              testing::ElementsAre("no {} is", "was \"it\""));
  EXPECT_EQ(filled_in("any of {{{}}} of library"), "any of {libcublas.so.12} of library");
}

TEST(ShownErrors, EachIsExplained) {
  const auto texts = shown_texts();
  EXPECT_GE(texts.size(), 45U);
  for (const std::string& text : texts) {
    const auto found = explain(filled_in(text), builtin_knowledge());
    ASSERT_FALSE(found.empty()) << filled_in(text);
    EXPECT_FALSE(found.front().guess) << filled_in(text) << ": " << found.front().title;
  }
}

}  // namespace mynah::doctor
