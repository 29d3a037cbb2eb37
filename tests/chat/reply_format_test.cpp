// What chat templates are taken for.
#include "chat/reply/reply_format.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "base/tsv_lines.h"
#include "test_paths.h"

namespace mynah {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Some templates are shared; all of them stand in the source package of llama-cpp-python, in
// vendor/llama.cpp/models/templates, a folder that $MYNAH_CHAT_TEMPLATES names.
std::filesystem::path template_path(std::string_view name) {
  const std::string shared = test::shared_path("tokenizers/templates/" + std::string(name));
  if (std::filesystem::exists(shared)) {
    return shared;
  }
  const char* const folder = std::getenv("MYNAH_CHAT_TEMPLATES");
  return std::filesystem::path(folder != nullptr ? folder : "none") / name;
}

TEST(ReplyFormat, KnowsTemplates) {
  const std::string rows = text_of(test::source_path("tests/chat/reply_templates.tsv"));
  int missing = 0;
  int known = 0;
  for_each_tsv_line<3>(rows, [&](const auto& cells) {
    const std::filesystem::path path = template_path(cells[0]);
    if (!std::filesystem::exists(path)) {
      ++missing;
      return;
    }
    ++known;
    const ReplyFormat format = reply_format_of_template(text_of(path));
    EXPECT_EQ(format.calls.name, cells[1]) << cells[0];
    EXPECT_EQ(format.thoughts.name, cells[2]) << cells[0];
  });
  std::cout << known << " templates, " << missing << " not here\n";
  if (missing > 0) {
    GTEST_SKIP() << missing << " of " << known + missing << " templates are not here";
  }
}

TEST(ReplyFormat, TakesATemplateOfNoFamilyForJson) {
  const ReplyFormat format = reply_format_of_template("{{ messages }}");
  EXPECT_EQ(format.calls.name, "generic");
  EXPECT_EQ(format.thoughts.name, "think");
}

TEST(ReplyFormat, RowsAreWhole) {
  EXPECT_GE(call_formats().size(), 20U);
  for (const CallFormat& format : call_formats()) {
    SCOPED_TRACE(format.name);
    const bool begins = !format.begin.empty() || !format.section_begin.empty();
    EXPECT_EQ(begins, format.shape != CallShape::Harmony);
    EXPECT_EQ(!format.separator.empty(),
              format.shape == CallShape::Named || format.shape == CallShape::Gemma);
    EXPECT_EQ(!format.parameter_end.empty(), format.shape == CallShape::Tagged);
  }
  for (const ThoughtFormat& format : thought_formats()) {
    EXPECT_FALSE(format.begin.empty() || format.end.empty()) << format.name;
  }
}

}  // namespace
}  // namespace mynah
