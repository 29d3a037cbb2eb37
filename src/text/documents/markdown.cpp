#include <algorithm>

#include "text/documents/document.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Line {
  std::string text;
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
    if (is_fence(line)) {
      code = !code;
      continue;
    }
    Line next{.text = std::string(line)};
    if (!code) {
      std::string title;
      next.heading = hash_heading(line, title);
      const bool above = !lines.empty() && !lines.back().text.empty() && lines.back().heading == 0;
      if (next.heading > 0) {
        next.text = title;
      } else if (above && (is_underline(line, '=') || is_underline(line, '-'))) {
        lines.back().heading = line.front() == '=' ? 1 : 2;
        continue;
      }
    }
    lines.push_back(std::move(next));
  }
  return lines;
}

}  // namespace

Document read_markdown(std::string_view text) {
  const std::string valid = replace_invalid_utf8(text);
  const std::vector<Line> lines = lines_of(valid);
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
      document.title = line.text;
    }
    if (document.chapters.empty() || begins) {
      document.chapters.push_back({.title = begins ? line.text : std::string(), .text = {}});
    }
    std::string& out = document.chapters.back().text;
    out += line.text + (line.heading > 0 ? "\n\n" : "\n");
  }
  std::erase_if(document.chapters, [](const Chapter& chapter) {
    return chapter.text.find_first_not_of(" \n") == std::string::npos;
  });
  return document;
}

}  // namespace mynah
