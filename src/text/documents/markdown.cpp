#include <algorithm>

#include "text/documents/document.h"
#include "text/spoken/front_matter.h"
#include "text/spoken/markup.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Line {
  std::string raw;
  std::string title;  // of a heading
  int heading = 0;
};

// "## Title ##" (CommonMark 0.31, 4.2); a heading that is underlined is found by the line below.
int hash_heading(std::string_view line, std::string& title) {
  size_t level = 0;
  while (level < line.size() && line[level] == '#') {
    ++level;
  }
  if (level == 0 || level > 6 ||
      (level < line.size() && line[level] != ' ' && line[level] != '\t')) {
    return 0;
  }
  std::string_view rest = line.substr(level);
  while (rest.ends_with('#') || rest.ends_with(' ') || rest.ends_with('\t')) {
    rest.remove_suffix(1);
  }
  const size_t begin = rest.find_first_not_of(" \t");
  title = begin == std::string_view::npos ? std::string() : std::string(rest.substr(begin));
  return static_cast<int>(level);
}

bool is_underline(std::string_view line, char mark) {
  return line.size() >= 2 && line.find_first_not_of(mark) == std::string_view::npos;
}

bool is_fence(std::string_view line) {
  return line.starts_with("```") || line.starts_with("~~~");
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  bool code = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    while (line.ends_with('\r') || line.ends_with(' ')) {
      line.remove_suffix(1);
    }
    Line next{.raw = std::string(line), .title = {}};
    if (is_fence(line)) {
      code = !code;
    } else if (!code) {
      next.heading = hash_heading(line, next.title);
      const bool above = !lines.empty() && !lines.back().raw.empty() && lines.back().heading == 0;
      if (next.heading == 0 && above && (is_underline(line, '=') || is_underline(line, '-'))) {
        lines.back().heading = line.front() == '=' ? 1 : 2;
        lines.back().title = lines.back().raw;
      }
    }
    lines.push_back(std::move(next));
  }
  return lines;
}

std::string plain(std::string_view markdown) {
  MarkupFilter filter;
  std::string text = filter.push(markdown);
  text += filter.finish();
  while (text.ends_with('\n') || text.ends_with(' ')) {
    text.pop_back();
  }
  return text;
}

}  // namespace

Document read_markdown(std::string_view text) {
  const std::string valid = replace_invalid_utf8(text);
  const FrontMatter facts = read_front_matter(valid, true);
  const std::vector<Line> lines = lines_of(std::string_view(valid).substr(facts.bytes));
  constexpr int kLevels = 3;
  int level = 0;
  for (int wanted = 1; wanted <= kLevels && level == 0; ++wanted) {
    if (std::ranges::count(lines, wanted, &Line::heading) > 1) {
      level = wanted;
    }
  }
  Document document;
  for (const Line& line : lines) {
    const bool begins = line.heading > 0 && line.heading <= level;
    if (document.title.empty() && line.heading == 1) {
      document.title = plain(line.title);
    }
    if (document.chapters.empty() || begins) {
      document.chapters.push_back(
          {.title = begins ? plain(line.title) : std::string(), .text = {}});
    }
    document.chapters.back().text += line.raw + "\n";
  }
  if (document.title.empty()) {
    document.title = facts.title;
  }
  document.author = facts.author;
  document.language = facts.language;
  for (Chapter& chapter : document.chapters) {
    chapter.text = plain(chapter.text);
  }
  std::erase_if(document.chapters, [](const Chapter& chapter) {
    return chapter.text.find_first_not_of(" \n") == std::string::npos;
  });
  return document;
}

}  // namespace mynah
