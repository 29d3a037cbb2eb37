#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/documents/document.h"
#include "text/documents/document_words.h"
#include "text/spoken/front_matter.h"
#include "text/spoken/markup.h"
#include "text/spoken/markup_marks.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Line {
  std::string raw;
  std::string title;  // of a heading
  int heading = 0;
  bool code = false;
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
  constexpr std::string_view kSpace = " \t";
  std::string_view rest = line.substr(level);
  rest = rest.substr(0, rest.find_last_not_of(kSpace) + 1);
  // Behind a space only: "# C#".
  const std::string_view open = rest.substr(0, rest.find_last_not_of('#') + 1);
  if (open.empty() || kSpace.contains(open.back())) {
    rest = open.substr(0, open.find_last_not_of(kSpace) + 1);
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
    next.code = code || is_fence(line);
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

// Notes as Markdown has them, taken out of its lines: "[^1]" in the text and "[^1]: ..." for it,
// and pandoc's "^[...]".
class MarkdownNotes {
 public:
  // Takes the definitions; the lines stay, empty.
  MarkdownNotes(std::vector<Line>& lines, std::string language) : language_(std::move(language)) {
    std::string* note = nullptr;  // that goes on
    bool blank = false;
    for (Line& line : lines) {
      const std::string_view text = trimmed(line.raw);
      const bool indented = line.raw.starts_with(' ') || line.raw.starts_with('\t');
      if (line.code && !(note != nullptr && indented)) {
        note = nullptr;
        continue;
      }
      if (is_note(text)) {
        const size_t close = text.find("]:");
        note = &notes_[std::string(text.substr(2, close - 2))];
        *note = trimmed(text.substr(close + 2));
        line = {};
        blank = false;
      } else if (note != nullptr && text.empty()) {
        blank = true;
      } else if (note != nullptr && (indented || !blank)) {
        *note += (note->empty() ? "" : "\n") + std::string(text);
        line = {};
      } else {
        note = nullptr;
      }
    }
  }

  // A line with the notes at their marks, or without marks, and what is read at the end.
  std::string read(std::string_view line, NoteReading how, std::vector<std::string>& at_end) {
    std::string out;
    bool code = false;
    for (size_t at = 0; at < line.size();) {
      const std::string_view rest = line.substr(at);
      code = code != (rest[0] == '`');
      const bool spelled = !code && rest.starts_with("^[");
      const size_t close = spelled                           ? closing_bracket(rest.substr(1), true)
                           : !code && rest.starts_with("[^") ? rest.find(']')
                                                             : 0;
      const auto known = spelled || close == 0 || close == std::string_view::npos
                             ? notes_.end()
                             : notes_.find(std::string(rest.substr(2, close - 2)));
      if (close == 0 || close == std::string_view::npos || (!spelled && known == notes_.end())) {
        out += line[at++];
        continue;
      }
      const std::string text = spelled ? std::string(rest.substr(2, close - 1)) : known->second;
      at += close + (spelled ? 2 : 1);
      if (how == NoteReading::Inline) {
        out += " (" + text + ")";
      } else {
        at_end.push_back(said_note(std::to_string(++count_), text, language_));
      }
    }
    return out;
  }

 private:
  std::map<std::string, std::string> notes_;
  std::string language_;
  size_t count_ = 0;
};

}  // namespace

Document read_markdown(std::string_view text, NoteReading how) {
  const std::string valid = replace_invalid_utf8(text);
  const FrontMatter facts = read_front_matter(valid, true);
  std::vector<Line> lines = lines_of(std::string_view(valid).substr(facts.bytes));
  std::optional<MarkdownNotes> notes;  // else MarkupFilter leaves them out
  if (how != NoteReading::Skip) {
    notes.emplace(lines, facts.language);
  }
  constexpr int kLevels = 3;
  int level = 0;
  for (int wanted = 1; wanted <= kLevels && level == 0; ++wanted) {
    if (std::ranges::count(lines, wanted, &Line::heading) > 1) {
      level = wanted;
    }
  }
  Document document;
  std::vector<std::string> at_end;
  const auto end_chapter = [&] {
    for (const std::string& note : std::exchange(at_end, {})) {
      document.chapters.back().text += "\n\n" + note + "\n";
    }
  };
  for (const Line& line : lines) {
    const bool begins = line.heading > 0 && line.heading <= level;
    if (document.title.empty() && line.heading == 1) {
      document.title = plain(line.title);
    }
    if (document.chapters.empty() || begins) {
      end_chapter();
      document.chapters.push_back(
          {.title = begins ? plain(line.title) : std::string(), .text = {}});
    }
    document.chapters.back().text +=
        (notes && !line.code ? notes->read(line.raw, how, at_end) : line.raw) + "\n";
  }
  end_chapter();
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
