#include "doctor/reports/report_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/wrapped_text.h"

namespace mynah::doctor {

namespace {

constexpr size_t kIndent = 4;
constexpr size_t kGap = 2;  // between columns of the table
constexpr size_t kMostSkipped = 5;
constexpr size_t kMostEvidence = 6;

// Select Graphic Rendition of ECMA-48.
std::string_view colour_of(Level level) {
  switch (level) {
    case Level::Good:
      return "\x1b[32m";
    case Level::Note:
      return "\x1b[2m";
    case Level::Unknown:
      return "\x1b[36m";
    case Level::Warning:
      return "\x1b[33m";
    case Level::Fail:
      break;
  }
  return "\x1b[1;31m";
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

// Lines of a report, each part wrapped behind its label.
class Page {
 public:
  explicit Page(const TextStyle& style) : style_(style) {}

  void line(std::string_view text = {}) { (text_ += text) += '\n'; }

  void paragraph(std::string_view words) { line(wrapped(printable(words), 0, style_.columns)); }

  // "    why: words words": lines after the first stand below the first word.
  void part(std::string_view label, std::string_view words) {
    const size_t indent = kIndent + label.size();
    text_.append(kIndent, ' ').append(printable(label));
    line(wrapped(printable(words), indent, style_.columns));
  }

  // The same, broken where its lines end alone: what is to be copied.
  void verbatim(std::string_view label, std::string_view words) {
    text_.append(kIndent, ' ').append(label);
    size_t end = 0;
    while ((end = words.find('\n')) != std::string_view::npos) {
      line(printable(words.substr(0, end)));
      words.remove_prefix(end + 1);
      text_.append(kIndent + label.size(), ' ');
    }
    line(printable(words));
  }

  [[nodiscard]] std::string coloured(Level level, std::string_view words) const {
    return style_.colours ? fmt::format("{}{}\x1b[0m", colour_of(level), words)
                          : std::string(words);
  }

  // What is to be done: the command behind its label, and below it what it does.
  void action(std::string_view label, const std::string& command, const std::string& text) {
    if (command.empty()) {
      part(label, text);
      return;
    }
    verbatim(label, command);
    if (!text.empty()) {
      part(std::string(label.size(), ' '), text);
    }
  }

  void remedies(const std::vector<Remedy>& remedies) {
    bool first = true;
    for (const Remedy& remedy : remedies) {
      const std::string_view label = first ? "do: " : "or: ";
      first = false;
      action(label, remedy.command, remedy.text);
      for (size_t i = 0; i < remedy.steps.size(); ++i) {
        action(fmt::format("    {}. ", i + 1), remedy.steps[i].command, remedy.steps[i].text);
      }
      if (!remedy.cost.empty()) {
        part("    cost: ", remedy.cost);
      }
    }
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const TextStyle& style_;
  std::string text_;
};

// Environments are told apart only where there are several.
bool has_several_environments(const VerdictTable& table) {
  return std::ranges::any_of(table.rows, [&](const VerdictTable::Row& row) {
    return row.environment != table.rows.front().environment;
  });
}

std::string row_name(const VerdictTable::Row& row, bool environments) {
  return printable(environments && !row.environment.empty()
                       ? fmt::format("{} in {}", row.framework, row.environment)
                       : row.framework);
}

std::string_view outcome_words(const FrameworkVerdict* cell) {
  return cell == nullptr ? std::string_view("-") : outcome_name(cell->outcome);
}

// What does not fit side by side stands below each other.
void add_list(Page& page, const VerdictTable& table, bool environments) {
  for (const VerdictTable::Row& row : table.rows) {
    page.line(row_name(row, environments));
    for (size_t i = 0; i < table.cards.size(); ++i) {
      if (row.cells[i] != nullptr) {
        page.line(fmt::format(
            "  {}: {}", printable(table.cards[i]),
            page.coloured(level_of(row.cells[i]->outcome), outcome_name(row.cells[i]->outcome))));
      }
    }
  }
}

void add_table(Page& page, const VerdictTable& table, const TextStyle& style) {
  const bool environments = has_several_environments(table);
  size_t first = 0;
  for (const VerdictTable::Row& row : table.rows) {
    first = std::max(first, row_name(row, environments).size());
  }
  std::vector<size_t> widths;
  size_t all = first;
  for (size_t i = 0; i < table.cards.size(); ++i) {
    size_t width = printable(table.cards[i]).size();
    for (const VerdictTable::Row& row : table.rows) {
      width = std::max(width, outcome_words(row.cells[i]).size());
    }
    widths.push_back(width);
    all += kGap + width;
  }
  if (all > style.columns) {
    return add_list(page, table, environments);
  }
  std::string line(first, ' ');
  for (size_t i = 0; i < table.cards.size(); ++i) {
    line.append(kGap, ' ').append(
        fmt::format("{:<{}}", printable(table.cards[i]), i + 1 < widths.size() ? widths[i] : 0));
  }
  page.line(line);
  for (const VerdictTable::Row& row : table.rows) {
    line = fmt::format("{:<{}}", row_name(row, environments), first);
    for (size_t i = 0; i < table.cards.size(); ++i) {
      const std::string_view words = outcome_words(row.cells[i]);
      line.append(kGap, ' ');
      line += row.cells[i] == nullptr ? std::string(words)
                                      : page.coloured(level_of(row.cells[i]->outcome), words);
      if (i + 1 < table.cards.size()) {
        line.append(widths[i] - words.size(), ' ');
      }
    }
    page.line(line);
  }
}

// What recipes say of the same package, below each other: their names are long.
void add_alignment(Page& page, const Alignment& alignment, bool all) {
  bool first = true;
  for (const AlignmentRow& row : alignment.rows) {
    const Level level = level_of(row);
    if (level <= Level::Note && !all) {
      continue;
    }
    if (first) {
      page.line();
      page.line("Recipes side by side:");
      first = false;
    }
    page.line(page.coloured(level, printable(row.name)) +
              (row.conflict  ? ": " + printable(row.why)
               : row.differs ? ": images apart, which need not agree"
                             : ""));
    for (size_t i = 0; i < row.cells.size() && i < alignment.columns.size(); ++i) {
      if (!row.cells[i].empty()) {
        page.part(alignment.columns[i].name + ": ", cell_words(row.cells[i]));
      }
    }
  }
}

void add_finding(Page& page, const Finding& finding, bool all) {
  const std::string level = level_words(finding);
  const std::string title = printable(title_of(finding));
  page.line();
  page.line(page.coloured(finding.level, finding.level == Level::Fail ? upper_case(level) : level) +
            (title.empty() ? "" : ": " + title));
  page.part("", finding.text);
  size_t shown = 0;
  for (const Evidence& evidence : finding.evidence) {
    if (shown == kMostEvidence && !all) {
      page.part("seen: ",
                fmt::format("{} more: --all shows them", finding.evidence.size() - kMostEvidence));
      break;
    }
    ++shown;
    page.part("seen: ", evidence.where.empty()
                            ? evidence.text
                            : fmt::format("{} ({})", evidence.text, evidence.where));
  }
  if (!finding.error.empty()) {
    page.part("shows as: ", finding.error);
  }
  page.remedies(finding.remedies);
}

void add_skipped(Page& page, const std::vector<std::string>& skipped, bool all) {
  if (skipped.empty()) {
    return;
  }
  page.line();
  page.line("Not looked at:");
  const size_t shown = all ? skipped.size() : std::min(skipped.size(), kMostSkipped);
  for (size_t i = 0; i < shown; ++i) {
    page.part("", skipped[i]);
  }
  if (shown < skipped.size()) {
    page.part("", fmt::format("{} more: --all shows them", skipped.size() - shown));
  }
}

}  // namespace

std::string report_text(const ReportFrame& frame, const TextStyle& style) {
  Page page(style);
  const Machine& machine = frame.facts.machine;
  if (!frame.about.empty()) {
    page.paragraph(frame.about);
  }
  if (const std::string words = machine_words(machine); !words.empty()) {
    page.line(printable(words));
  }
  for (const Card& card : machine.cards) {
    page.line(printable(card_words(card)));
  }
  if (machine.cards.empty()) {
    page.line("no card");
  }
  for (const std::string& line : looked_words(frame)) {
    page.paragraph(line);
  }
  if (!frame.report.verdicts.empty()) {
    page.line();
    add_table(page, table_of(frame.report), style);
  }
  if (frame.alignment != nullptr) {
    add_alignment(page, *frame.alignment, style.all);
  }
  size_t hidden = 0;
  for (const Finding& finding : frame.report.findings) {
    if (style.all || finding.level > Level::Note) {
      add_finding(page, finding, style.all);
    } else {
      ++hidden;
    }
  }
  add_skipped(page, frame.facts.skipped, style.all);
  page.line();
  page.line(page.coloured(frame.report.worst(), summary_words(frame.report)) +
            (hidden > 0 ? fmt::format("; {} note{} not shown: --all shows {}", hidden,
                                      hidden == 1 ? "" : "s", hidden == 1 ? "it" : "them")
                        : ""));
  return page.take();
}

namespace {

// Nothing to look after, as long as something else is.
bool is_aside(const Explanation& explanation) {
  return explanation.harmless || explanation.mention;
}

}  // namespace

std::string explanation_text(std::span<const Explanation> explanations, const TextStyle& style) {
  Page page(style);
  const bool harm = std::ranges::any_of(
      explanations, [](const Explanation& explanation) { return !is_aside(explanation); });
  bool first = true;
  for (const Explanation& explanation : explanations) {
    if (is_aside(explanation) && harm && !style.all) {
      continue;
    }
    if (!first) {
      page.line();
    }
    first = false;
    const Level level = explanation.guess || explanation.mention ? Level::Unknown
                        : explanation.harmless                   ? Level::Note
                                                                 : Level::Fail;
    page.line(page.coloured(level, printable(explanation.title)) + " [" + explanation.id + "]");
    if (explanation.guess) {
      page.part("",
                fmt::format("This is a guess: no known error, but the nearest one, with {:.0f} % "
                            "of its rare words.",
                            explanation.sureness * 100));
    }
    if (explanation.mention) {
      page.part("",
                "Whether it happened is a guess: the text speaks of it (in a changelog, advice, "
                "code, or a message of no concern), and does not say so.");
    }
    page.part(fmt::format("line {}: ", explanation.line), explanation.text);
    if (explanation.harmless) {
      page.part("", "It does no harm.");
    }
    page.part("why: ", explanation.cause);
    if (!explanation.follows.empty()) {
      page.part("follows: ", fmt::format("from {}; mend that first", explanation.follows));
    }
    page.remedies(explanation.remedies);
    if (!explanation.verified) {
      page.part("", "Nobody has verified this.");
    }
    for (const std::string& seen : explanation.seen) {
      page.part("met in: ", seen);
    }
  }
  return page.take();
}

}  // namespace mynah::doctor
