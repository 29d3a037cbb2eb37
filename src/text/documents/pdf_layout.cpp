#include "text/documents/pdf_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/documents/drop_capital.h"
#include "text/documents/pdf_words.h"
#include "text/documents/tags.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A letter that is so much higher than the text is a capital that begins a chapter.
constexpr double kCapital = 1.5;

double number(const Tag& tag, std::string_view name) {
  const std::string value(tag.attribute(name));
  const double read = std::strtod(value.c_str(), nullptr);
  return std::isfinite(read) ? std::clamp(read, -1e6, 1e6) : 0;
}

bool ends_sentence(std::string_view text) {
  for (const std::string_view end : {".", "!", "?", ":", "\"", "\u201D", "\u2019", "\u2026", "'"}) {
    if (text.ends_with(end)) {
      return true;
    }
  }
  return false;
}

class PageJoiner {
 public:
  PageJoiner(const std::vector<PdfPage>& pages, const PdfLineJoiner& lines)
      : pages_(pages), lines_(lines), height_(text_height(pages)) {}

  std::string join() {
    measure_blocks();
    for (const PdfPage& page : pages_) {
      const std::map<size_t, size_t> capitals = capitals_of(page);
      std::set<size_t> taken;
      for (const auto& [line, capital] : capitals) {
        taken.insert(capital);
      }
      for (size_t i = 0; i < page.lines.size(); ++i) {
        const PdfLine& line = page.lines[i];
        if (line.left_out || line.text.empty() || taken.contains(i)) {
          continue;
        }
        const auto capital = capitals.find(i);
        std::string text = line.text;
        if (capital != capitals.end()) {
          text = join_capital(page.lines[capital->second].text, text,
                              [this](const std::string& word) { return lines_.has(word); });
        }
        add(line, text, capital != capitals.end());
        new_page_ = false;
      }
      new_page_ = true;
      notes_.insert(notes_.end(), page.notes.begin(), page.notes.end());
    }
    add_notes();
    out_ += out_.empty() ? "" : "\n";
    return std::move(out_);
  }

 private:
  struct Block {
    double x0 = 1e9;
    double x1 = -1e9;
    size_t lines = 0;
  };

  void measure_blocks() {
    for (const PdfPage& page : pages_) {
      for (const PdfLine& line : page.lines) {
        Block& block = blocks_[line.block];
        block.x0 = std::min(block.x0, line.x0);
        block.x1 = std::max(block.x1, line.x1);
        ++block.lines;
      }
    }
  }

  // Large letters, by the line that each begins.
  [[nodiscard]] std::map<size_t, size_t> capitals_of(const PdfPage& page) const {
    std::map<size_t, size_t> capitals;
    for (size_t i = 0; i < page.lines.size(); ++i) {
      const PdfLine& letter = page.lines[i];
      if (letter.left_out || letter.height < kCapital * height_ || !is_lone_capital(letter.text)) {
        continue;
      }
      size_t first = page.lines.size();
      for (size_t k = 0; k < page.lines.size(); ++k) {
        const PdfLine& line = page.lines[k];
        // Some programs set the first line over the letter.
        const bool beside = k != i && !line.left_out && line.x0 > letter.x0 - 0.1 * height_ &&
                            line.x0 - letter.x1 < letter.height && line.y1 > letter.y0 &&
                            line.y0 < letter.y1;
        if (beside && (first == page.lines.size() || line.y0 < page.lines[first].y0)) {
          first = k;
        }
      }
      if (first < page.lines.size() && continues_capital(letter.text, page.lines[first].text)) {
        capitals.emplace(first, i);
      }
    }
    return capitals;
  }

  // Whether a line goes on with the paragraph of the one before.
  [[nodiscard]] bool goes_on(const PdfLine& line, std::string_view text) const {
    if (out_.empty()) {
      return false;
    }
    const double larger = std::max(line.height, last_.height);
    const bool alike = std::abs(line.height - last_.height) < 0.15 * larger;
    const bool same_block = line.block == last_.block && !new_page_;
    const Block& block = blocks_.at(last_.block);
    const bool full = last_.x1 > block.x1 - 0.12 * (block.x1 - block.x0) && block.lines > 1;
    if (same_block) {
      const bool indented =
          line.x0 > block.x0 + 0.6 * line.height && last_.x0 < line.x0 - 0.6 * line.height;
      const bool apart = line.y0 - last_.y1 > 0.9 * larger;
      return alike && !apart && !(indented && (ends_sentence(last_.text) || !full));
    }
    if (ends_sentence(last_.text)) {
      return false;
    }
    return alike && (begins_small(text) || (full && new_page_));
  }

  void add(const PdfLine& line, const std::string& text, bool begins) {
    if (begins || !goes_on(line, text)) {
      add_notes();
      out_ += out_.empty() ? "" : "\n\n";
      out_ += text;
    } else {
      lines_.append(out_, text, "\n");
    }
    last_ = line;
    last_.text = text;
  }

  // Notes stand behind the paragraph that goes on over their page.
  void add_notes() {
    for (const PdfNote& note : std::exchange(notes_, {})) {
      out_ += fmt::format("\n\n[Footnote {}: {}]", note.label, note.text);
    }
  }

  const std::vector<PdfPage>& pages_;
  const PdfLineJoiner& lines_;
  double height_;
  std::map<size_t, Block> blocks_;
  std::string out_;
  std::vector<PdfNote> notes_;  // that the text has still to give
  PdfLine last_;
  bool new_page_ = false;
};

}  // namespace

void PdfLayoutReader::push(std::string_view xml) {
  constexpr std::string_view kEnd = "</page>";
  const size_t searched = pending_.size() < kEnd.size() ? 0 : pending_.size() - kEnd.size();
  pending_ += xml;
  size_t begin = 0;
  for (size_t end = pending_.find(kEnd, searched); end != std::string::npos;
       end = pending_.find(kEnd, begin)) {
    read_page(std::string_view(pending_).substr(begin, end - begin));
    begin = end + kEnd.size();
  }
  pending_.erase(0, begin);
}

void PdfLayoutReader::read_page(std::string_view xml) {
  PdfPage page;
  std::vector<PdfWord> words;
  TagReader tags(xml);
  bool in_word = false;
  bool in_line = false;
  std::vector<std::vector<PdfWord>> words_of_lines;
  const auto end_line = [&] {
    if (in_line && !words.empty()) {
      words_of_lines.push_back(std::move(words));
    } else if (in_line) {
      page.lines.pop_back();
    }
    words.clear();
    in_line = false;
    in_word = false;
  };
  while (const auto tag = tags.next()) {
    if (tag->kind == Tag::Kind::Text) {
      if (in_word) {
        words.back().text += replace_invalid_utf8(trimmed(tag->text));
      }
    } else if (tag->kind == Tag::Kind::Close) {
      in_word = in_word && tag->name != "word";
      if (tag->name == "line") {
        end_line();
      }
    } else if (tag->name == "page") {
      page.width = number(*tag, "width");
      page.height = number(*tag, "height");
    } else if (tag->name == "block") {
      ++blocks_;
    } else if (tag->name == "line") {
      end_line();
      page.lines.push_back({.x0 = number(*tag, "xmin"),
                            .x1 = number(*tag, "xmax"),
                            .y0 = number(*tag, "ymin"),
                            .y1 = number(*tag, "ymax"),
                            .block = blocks_});
      in_line = true;
    } else if (tag->name == "word" && in_line) {
      words.push_back({.x0 = number(*tag, "xmin"),
                       .x1 = number(*tag, "xmax"),
                       .y1 = number(*tag, "ymax"),
                       .height = std::max(0.0, number(*tag, "ymax") - number(*tag, "ymin"))});
      in_word = true;
    }
  }
  end_line();
  join_raised(page.lines, words_of_lines);
  for (size_t i = 0; i < page.lines.size(); ++i) {
    fill_line(page.lines[i], words_of_lines[i]);
    bytes_ += page.lines[i].text.size();
  }
  std::erase_if(page.lines, [](const PdfLine& line) { return line.text.empty(); });
  pages_.push_back(std::move(page));
}

std::vector<PdfPage> PdfLayoutReader::finish() {
  pending_.clear();
  return std::exchange(pages_, {});
}

double text_height(const std::vector<PdfPage>& pages) {
  std::vector<std::pair<double, size_t>> heights;
  size_t all = 0;
  for (const PdfPage& page : pages) {
    for (const PdfLine& line : page.lines) {
      heights.emplace_back(line.height, line.text.size());
      all += line.text.size();
    }
  }
  std::ranges::sort(heights);
  size_t sum = 0;
  for (const auto& [height, bytes] : heights) {
    sum += bytes;
    if (sum * 2 >= all) {
      return height;
    }
  }
  return 0;
}

std::string text_of_pages(const std::vector<PdfPage>& pages, const PdfLineJoiner& lines) {
  return PageJoiner(pages, lines).join();
}

}  // namespace mynah
