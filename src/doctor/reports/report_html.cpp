#include "doctor/reports/report_html.h"

#include <fmt/format.h>

#include "doctor/facts_json.h"

namespace mynah::doctor {

namespace {

// Colours of at least 4.5 : 1 against their backgrounds (WCAG 2.2, 1.4.3).
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ink:#1c1c1e;--paper:#fff;--faint:#5f6368;--line:#d0d4da;--box:#f5f6f8;
--good:#0b6b2e;--note:#5f6368;--unknown:#0b5a8a;--warning:#8a4b00;--fail:#b3151a}
@media (prefers-color-scheme:dark){:root{--ink:#e8e8ea;--paper:#17181a;--faint:#a5a9b0;--line:#3c4046;
--box:#222427;--good:#6fd68c;--note:#a5a9b0;--unknown:#7cc4f0;--warning:#f0b35c;--fail:#ff8a85}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:0}
p{margin:.4rem 0}.faint{color:var(--faint)}
table{border-collapse:collapse;width:100%}th,td{border:1px solid var(--line);padding:.4rem .6rem;
text-align:left;vertical-align:top}th{background:var(--box);font-weight:600}
.scroll{overflow-x:auto}
section{border:1px solid var(--line);border-left-width:6px;border-radius:6px;padding:.6rem 1rem;margin:.8rem 0}
.good{border-left-color:var(--good)}.note{border-left-color:var(--note)}
.unknown{border-left-color:var(--unknown)}.warning{border-left-color:var(--warning)}
.fail{border-left-color:var(--fail)}
b.good{color:var(--good)}b.note{color:var(--note)}b.unknown{color:var(--unknown)}
b.warning{color:var(--warning)}b.fail{color:var(--fail)}
pre{background:var(--box);padding:.5rem .7rem;margin:.3rem 0;border-radius:4px;white-space:pre-wrap;
overflow-wrap:anywhere;font:.88rem/1.45 ui-monospace,monospace}
ul{margin:.3rem 0;padding-left:1.2rem}li,td,h3{overflow-wrap:anywhere}
@media print{body{margin:0;max-width:none}section{break-inside:avoid}}
)";

// A word for a level in its colour.
std::string in_colour(Level level, std::string_view words) {
  return fmt::format("<b class=\"{}\">{}</b>", level_name(level), escaped_html(words));
}

void add_table(std::string& page, const Report& report) {
  const VerdictTable table = table_of(report);
  page += "<div class=\"scroll\"><table>\n<tr><th scope=\"col\">Framework</th>";
  for (const std::string& card : table.cards) {
    page += fmt::format("<th scope=\"col\">{}</th>", escaped_html(card));
  }
  page += "</tr>\n";
  for (const VerdictTable::Row& row : table.rows) {
    page += fmt::format("<tr><th scope=\"row\">{}", escaped_html(row.framework));
    if (!row.environment.empty()) {
      page += fmt::format("<br><small class=\"faint\">{}</small>", escaped_html(row.environment));
    }
    page += "</th>";
    for (const FrameworkVerdict* cell : row.cells) {
      if (cell == nullptr) {
        page += "<td>-</td>";
        continue;
      }
      page += "<td>" + in_colour(level_of(cell->outcome), outcome_name(cell->outcome));
      if (!cell->reason.empty()) {
        page += "<br><small>" + escaped_html(cell->reason) + "</small>";
      }
      page += "</td>";
    }
    page += "</tr>\n";
  }
  page += "</table></div>\n";
}

void add_alignment(std::string& page, const Alignment& alignment) {
  page +=
      "<h2>Recipes side by side</h2>\n<div class=\"scroll\"><table>\n<tr><th scope=\"col\"></th>";
  for (const AlignmentColumn& column : alignment.columns) {
    page += fmt::format("<th scope=\"col\">{}</th>", escaped_html(column.name));
  }
  page += "</tr>\n";
  for (const AlignmentRow& row : alignment.rows) {
    page += fmt::format("<tr><th scope=\"row\">{}", in_colour(level_of(row), row.name));
    if (!row.why.empty()) {
      page += fmt::format("<br><small class=\"faint\">{}</small>", escaped_html(row.why));
    }
    page += "</th>";
    for (const AlignmentCell& cell : row.cells) {
      const std::string words = cell_words(cell);
      page += fmt::format("<td>{}", cell.conflict ? in_colour(Level::Warning, words)
                                    : cell.drifts ? in_colour(Level::Warning, words)
                                                  : escaped_html(words));
      if (!cell.where.empty()) {
        page += fmt::format("<br><small class=\"faint\">{}</small>", escaped_html(cell.where));
      }
      page += "</td>";
    }
    page += "</tr>\n";
  }
  page += "</table></div>\n";
}

void add_steps(std::string& page, const std::vector<RemedyStep>& steps) {
  if (steps.empty()) {
    return;
  }
  page += "<ol>\n";
  for (const RemedyStep& step : steps) {
    page += "<li>" + escaped_html(step.text);
    if (!step.command.empty()) {
      page += "<pre>" + escaped_html(step.command) + "</pre>";
    }
    page += "</li>\n";
  }
  page += "</ol>\n";
}

void add_finding(std::string& page, const Finding& finding) {
  page += fmt::format("<section class=\"{}\">\n<h3>{}: {}</h3>\n<p>{}</p>\n",
                      level_name(finding.level), in_colour(finding.level, level_words(finding)),
                      escaped_html(title_of(finding)), escaped_html(finding.text));
  if (!finding.error.empty()) {
    page += fmt::format("<p>Shows as:</p>\n<pre>{}</pre>\n", escaped_html(finding.error));
  }
  if (!finding.evidence.empty()) {
    page += "<p>Seen:</p>\n<ul>\n";
    for (const Evidence& evidence : finding.evidence) {
      page += "<li>" + escaped_html(evidence.text);
      if (!evidence.where.empty()) {
        page += " <span class=\"faint\">" + escaped_html(evidence.where) + "</span>";
      }
      page += "</li>\n";
    }
    page += "</ul>\n";
  }
  std::string_view lead = "What helps:";
  for (const Remedy& remedy : finding.remedies) {
    page += fmt::format("<p>{} {}</p>\n", lead, escaped_html(remedy.text));
    lead = "Or:";
    if (!remedy.command.empty()) {
      page += "<pre>" + escaped_html(remedy.command) + "</pre>\n";
    }
    add_steps(page, remedy.steps);
    if (!remedy.cost.empty()) {
      page += fmt::format("<p class=\"faint\">Cost: {}</p>\n", escaped_html(remedy.cost));
    }
  }
  page += "</section>\n";
}

void add_machine(std::string& page, const ReportFrame& frame) {
  const Machine& machine = frame.facts.machine;
  page += "<h2>Machine</h2>\n<ul>\n";
  if (!frame.about.empty()) {
    page += "<li>" + escaped_html(frame.about) + "</li>\n";
  }
  if (const std::string words = machine_words(machine); !words.empty()) {
    page += "<li>" + escaped_html(words) + "</li>\n";
  }
  for (const Card& card : machine.cards) {
    page += "<li>" + escaped_html(card_words(card)) + "</li>\n";
  }
  if (machine.cards.empty()) {
    page += "<li>no card</li>\n";
  }
  for (const std::string& line : looked_words(frame)) {
    page += "<li>" + escaped_html(line) + "</li>\n";
  }
  page += "</ul>\n";
}

// The same text with U+FFFD for bytes that are no UTF-8.
std::string as_utf8(const std::string& text) {
  using Json = nlohmann::ordered_json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
      .get<std::string>();
}

}  // namespace

std::string escaped_html(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string report_html(const ReportFrame& frame) {
  const Report& report = frame.report;
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>mynah doctor</title>\n<style>";
  page += kStyle;
  page += fmt::format(
      "</style>\n</head>\n<body>\n<h1>mynah doctor: {}</h1>\n"
      "<p class=\"faint\">{}; knowledge of {}</p>\n",
      in_colour(report.worst(), summary_words(report)), escaped_html(frame.program),
      escaped_html(frame.knowledge_date));
  add_machine(page, frame);
  if (!report.verdicts.empty()) {
    page += "<h2>Frameworks on cards</h2>\n";
    add_table(page, report);
  }
  if (frame.alignment != nullptr) {
    add_alignment(page, *frame.alignment);
  }
  if (!report.findings.empty()) {
    page += "<h2>Findings</h2>\n";
    for (const Finding& finding : report.findings) {
      add_finding(page, finding);
    }
  }
  if (!frame.facts.skipped.empty()) {
    page += "<h2>Not looked at</h2>\n<ul>\n";
    for (const std::string& skipped : frame.facts.skipped) {
      page += "<li>" + escaped_html(skipped) + "</li>\n";
    }
    page += "</ul>\n";
  }
  const std::string facts =
      to_json(frame.facts).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  page += fmt::format(
      "<h2>Facts</h2>\n<details><summary>All that was looked at, as JSON (mynah doctor --as)"
      "</summary>\n<pre>{}</pre>\n</details>\n</body>\n</html>\n",
      escaped_html(facts));
  return as_utf8(page);
}

}  // namespace mynah::doctor
