#include "text/wer_report.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/utf8.h"

namespace mynah {
namespace {

ErrorCounts total(const std::vector<ScoredClip>& clips, bool by_character) {
  ErrorCounts counts;
  for (const ScoredClip& clip : clips) {
    if (clip.by_character == by_character) {
      counts += clip.alignment.counts;
    }
  }
  return counts;
}

std::string percent(const ErrorCounts& counts) {
  return fmt::format("{:.2f}", 100 * counts.rate());
}

// Columns for the terminal count code points: names are rarely wider.
std::string padded(std::string_view text, size_t width) {
  const size_t length = to_code_points(text).size();
  return std::string(text) + std::string(width > length ? width - length : 0, ' ');
}

std::string table_row(std::string_view name, size_t width, std::string_view unit,
                      const ErrorCounts& counts) {
  return fmt::format("{}  {:<5} {:>7} {:>6} {:>5} {:>5} {:>5} {:>8}\n", padded(name, width), unit,
                     counts.reference_length(), counts.errors(), counts.substitutions,
                     counts.deletions, counts.insertions, percent(counts));
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : replace_invalid_utf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// A path as a URL's path: what RFC 3986 does not reserve stays.
std::string escape_url(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    const bool plain =
        is_ascii_alnum(c) || std::string_view("-._~/").find(c) != std::string_view::npos;
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  // "//host" and "scheme:" are no paths; a scheme's colon is escaped above.
  return escaped.starts_with("//") ? "." + escaped : escaped;
}

std::string unit_html(const AlignedUnit& unit) {
  switch (unit.kind) {
    case EditKind::Substitute:
      return fmt::format("<del>{}</del><ins>{}</ins>", escape_html(unit.reference),
                         escape_html(unit.hypothesis));
    case EditKind::Delete:
      return fmt::format("<del>{}</del>", escape_html(unit.reference));
    case EditKind::Insert:
      return fmt::format("<ins>{}</ins>", escape_html(unit.hypothesis));
    default:
      return escape_html(unit.reference);
  }
}

std::string clip_html(const ScoredClip& clip) {
  const ErrorCounts& counts = clip.alignment.counts;
  std::string differences;
  for (const AlignedUnit& unit : clip.alignment.units) {
    if (!differences.empty() && !clip.by_character) {
      differences += ' ';
    }
    differences += unit_html(unit);
  }
  const std::string player =
      clip.audio_path.empty() ? ""
                              : fmt::format(R"(<audio controls preload="none" src="{}"></audio>)",
                                            escape_html(escape_url(clip.audio_path)));
  return fmt::format(
      "<tr><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
      "<td>{}</td><td class=\"text\" lang=\"{}\"><p dir=\"auto\">{}</p><details><summary>texts as "
      "given</summary>"
      "<p><b>reference</b> <bdi>{}</bdi></p><p><b>hypothesis</b> <bdi>{}</bdi></p></details></td>"
      "</tr>\n",
      escape_html(clip.name), player, escape_html(clip.language), percent(counts), counts.errors(),
      counts.reference_length(), counts.substitutions, counts.deletions, counts.insertions,
      escape_html(clip.language), differences, escape_html(clip.reference),
      escape_html(clip.hypothesis));
}

std::string totals_html(std::string_view what, const ErrorCounts& counts) {
  return fmt::format(
      "<p><b>{} {} %</b>: {} errors of {} ({} substituted, {} deleted, {} "
      "inserted)</p>\n",
      what, percent(counts), counts.errors(), counts.reference_length(), counts.substitutions,
      counts.deletions, counts.insertions);
}

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --wrong: #b3261e; --new: #146c2e; --line: #8884; }
@media (prefers-color-scheme: dark) { :root { --wrong: #ff8a80; --new: #81e29a; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .5rem; text-align: right;
  vertical-align: top; }
th { cursor: pointer; position: sticky; top: 0; background: Canvas; }
th:first-child, td:first-child, .text { text-align: left; }
td:first-child { max-width: 20rem; overflow-wrap: anywhere; }
audio { display: block; width: 15rem; margin-top: .25rem; }
.text { min-width: 24rem; } .text p { margin: 0 0 .25rem; }
del { color: var(--wrong); } ins { color: var(--new); font-weight: 600; text-decoration: none; }
del + ins { margin-left: .25em; }
summary { cursor: pointer; opacity: .7; }
)";

// Sorts by the heading that is clicked: numbers as numbers, again for the other direction.
constexpr std::string_view kScript = R"(
const body = document.querySelector('tbody');
document.querySelectorAll('th').forEach((heading, column) => heading.addEventListener('click', () => {
  const down = heading.getAttribute('aria-sort') !== 'descending';
  document.querySelectorAll('th').forEach(other => other.removeAttribute('aria-sort'));
  heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const key = row => row.cells[column].textContent;
  const compare = (a, b) => key(a).localeCompare(key(b), undefined, {numeric: true});
  const rows = [...body.rows].sort((a, b) => down ? compare(b, a) : compare(a, b));
  body.append(...rows);
}));
)";

}  // namespace

ScoredClip score_clip(std::string name, std::string audio_path, std::string language,
                      std::string reference, std::string hypothesis) {
  const TextScorer scorer(language);
  Alignment alignment = scorer.score(reference, hypothesis);
  return {.name = std::move(name),
          .audio_path = std::move(audio_path),
          .language = std::move(language),
          .reference = std::move(reference),
          .hypothesis = std::move(hypothesis),
          .by_character = scorer.by_character(),
          .alignment = std::move(alignment)};
}

void WerReport::add(ScoredClip clip) {
  clips_.push_back(std::move(clip));
}

ErrorCounts WerReport::words() const {
  return total(clips_, false);
}

ErrorCounts WerReport::characters() const {
  return total(clips_, true);
}

std::map<std::string, ErrorCounts> WerReport::by_language() const {
  std::map<std::string, ErrorCounts> counts;
  for (const ScoredClip& clip : clips_) {
    counts[clip.language] += clip.alignment.counts;
  }
  return counts;
}

std::string write_table(const WerReport& report) {
  size_t width = std::string_view("all, by character").size();
  for (const ScoredClip& clip : report.clips()) {
    width = std::max(width, to_code_points(clip.name).size());
  }
  std::string table =
      fmt::format("{}  {:<5} {:>7} {:>6} {:>5} {:>5} {:>5} {:>8}\n", padded("clip", width), "lang",
                  "length", "errors", "sub", "del", "ins", "rate %");
  for (const ScoredClip& clip : report.clips()) {
    table += table_row(clip.name, width, clip.language, clip.alignment.counts);
  }
  const auto languages = report.by_language();
  if (languages.size() > 1) {
    for (const auto& [language, counts] : languages) {
      table += table_row("all, " + language, width, language, counts);
    }
  }
  const ErrorCounts characters = report.characters();
  if (const ErrorCounts words = report.words(); words != ErrorCounts{} || characters == words) {
    table += table_row("all, by word", width, "", words);
  }
  if (characters != ErrorCounts{}) {
    table += table_row("all, by character", width, "", characters);
  }
  return table;
}

std::string write_html(const WerReport& report, std::string_view title) {
  const std::string heading = escape_html(title);
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
      "<style>{}</style></head>\n<body><h1>{}</h1>\n",
      heading, kStyle, heading);
  if (const ErrorCounts words = report.words(); words != ErrorCounts{}) {
    page += totals_html("Word error rate", words);
  }
  if (const ErrorCounts characters = report.characters(); characters != ErrorCounts{}) {
    page += totals_html("Character error rate", characters);
  }
  page +=
      "<table><thead><tr><th>clip</th><th>language</th><th>rate %</th><th>errors</th>"
      "<th>length</th><th>sub</th><th>del</th><th>ins</th><th class=\"text\">differences: "
      "<del>reference</del><ins>hypothesis</ins></th></tr></thead><tbody>\n";
  for (const ScoredClip& clip : report.clips()) {
    page += clip_html(clip);
  }
  page += "</tbody></table>\n<script>";
  page += kScript;
  page += "</script></body></html>\n";
  return page;
}

}  // namespace mynah
