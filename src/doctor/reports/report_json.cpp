#include "doctor/reports/report_json.h"

#include <nlohmann/json.hpp>

namespace mynah::doctor {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const FrameworkVerdict& verdict) {
  return {{"framework", verdict.framework},
          {"version", or_null(verdict.version)},
          {"environment", or_null(verdict.environment)},
          {"card", or_null(verdict.card)},
          {"outcome", outcome_name(verdict.outcome)},
          {"reason", or_null(verdict.reason)}};
}

Json json_of(const Evidence& evidence) {
  return {{"text", evidence.text}, {"where", or_null(evidence.where)}};
}

Json json_of(const Remedy& remedy) {
  Json json = {{"command", or_null(remedy.command)},
               {"text", or_null(remedy.text)},
               {"cost", or_null(remedy.cost)}};
  for (const RemedyStep& step : remedy.steps) {
    json["steps"].push_back({{"command", or_null(step.command)}, {"text", or_null(step.text)}});
  }
  return json;
}

Json json_of(const MemoryPlan& plan) {
  Json models = Json::array();
  for (const PlannedModel& model : plan.models) {
    models.push_back({{"model", model.model},
                      {"place", model.on_card ? "card" : "processor"},
                      {"storage", or_null(model.storage)},
                      {"engine", or_null(model.engine)},
                      {"least_mib", model.least_mib},
                      {"most_mib", model.most_mib},
                      {"source", or_null(model.source)},
                      {"as_asked_for", model.as_asked_for}});
  }
  return {{"card", plan.card},
          {"memory_mib", plan.memory_mib},
          {"headroom_mib", plan.headroom_mib},
          {"limit_mib", plan.memory_mib - plan.headroom_mib},
          {"taken_mib", plan.taken_mib},
          {"models", models}};
}

Json json_of(const Finding& finding);
Json json_of(const AlignmentColumn& column);
Json json_of(const AlignmentRow& row);
Json json_of(const AlignmentEdit& edit);
Json json_of(const AlignmentDriver& driver);

template <class T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) {
    list.push_back(json_of(value));
  }
  return list;
}

Json json_of(const Finding& finding) {
  return {{"rule", finding.rule},
          {"level", level_name(finding.level)},
          {"certainty", certainty_name(finding.certainty)},
          {"subject", or_null(finding.subject)},
          {"card", or_null(finding.card)},
          {"text", finding.text},
          {"error", or_null(finding.error)},
          {"evidence", list_of(finding.evidence)},
          {"remedies", list_of(finding.remedies)}};
}

Json json_of(const AlignmentColumn& column) {
  return {{"name", column.name}, {"path", column.path}};
}

Json json_of(const AlignmentCell& cell) {
  return {{"written", or_null(cell.written)},
          {"resolved", or_null(cell.resolved)},
          {"where", or_null(cell.where)},
          {"drifts", cell.drifts},
          {"conflict", cell.conflict}};
}

Json json_of(const AlignmentRow& row) {
  Json cells = Json::array();
  for (const AlignmentCell& cell : row.cells) {
    cells.push_back(json_of(cell));
  }
  return {{"name", row.name},
          {"cells", cells},
          {"conflict", row.conflict},
          {"differs", row.differs},
          {"why", or_null(row.why)}};
}

Json json_of(const AlignmentEdit& edit) {
  return {{"file", edit.file},
          {"line", edit.line == 0 ? Json() : Json(edit.line)},
          {"from", or_null(edit.from)},
          {"to", edit.to},
          {"row", edit.row},
          {"why", or_null(edit.why)}};
}

Json json_of(const AlignmentDriver& driver) {
  return {{"column", driver.column},      {"package", driver.package},
          {"card", or_null(driver.card)}, {"driver", or_null(driver.driver)},
          {"why", or_null(driver.why)},   {"verified", driver.verified}};
}

Json json_of(const Alignment& alignment) {
  return {{"columns", list_of(alignment.columns)},
          {"rows", list_of(alignment.rows)},
          {"edits", list_of(alignment.edits)},
          {"target", or_null(alignment.target)},
          {"drivers", list_of(alignment.drivers)}};
}

Json machine_json(const ReportFrame& frame) {
  const Machine& machine = frame.facts.machine;
  Json cards = Json::array();
  for (const Card& card : machine.cards) {
    cards.push_back({{"name", or_null(card.name)},
                     {"compute_capability", or_null(card.compute_capability)},
                     {"memory_mib", card.memory_mib ? Json(*card.memory_mib) : Json()}});
  }
  return {{"about", or_null(frame.about)},
          {"release", or_null(machine.release)},
          {"driver", or_null(machine.driver)},
          {"cards", cards}};
}

// What there was to judge: a report without verdicts says what it looked at, too.
Json looked_json(const Facts& facts) {
  Json environments = Json::array();
  for (const PythonEnvironment& environment : facts.environments) {
    environments.push_back({{"path", or_null(environment.path)},
                            {"kind", or_null(environment.kind)},
                            {"python", or_null(environment.python)},
                            {"packages", environment.packages.size()},
                            {"frameworks", environment.frameworks.size()}});
  }
  const Json recipes = recipe_paths(facts);
  Json toolkits = Json::array();
  for (const Toolkit& toolkit : facts.toolkits) {
    toolkits.push_back(toolkit.path);
  }
  return {{"environments", environments}, {"recipes", recipes}, {"toolkits", toolkits}};
}

}  // namespace

nlohmann::ordered_json report_json(const ReportFrame& frame) {
  return {{"format", "mynah doctor report"},
          {"version", kReportVersion},
          {"program", frame.program},
          {"knowledge", frame.knowledge_date},
          {"machine", machine_json(frame)},
          {"worst", level_name(frame.report.worst())},
          {"verdicts", list_of(frame.report.verdicts)},
          {"findings", list_of(frame.report.findings)},
          {"memory_plans", list_of(frame.report.plans)},
          {"alignment", frame.alignment == nullptr ? Json() : json_of(*frame.alignment)},
          {"looked_at", looked_json(frame.facts)},
          {"skipped", frame.facts.skipped}};
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

nlohmann::ordered_json part_json(const FrameworkVerdict& verdict) {
  return json_of(verdict);
}

nlohmann::ordered_json part_json(const Finding& finding) {
  return json_of(finding);
}

nlohmann::ordered_json part_json(const Remedy& remedy) {
  return json_of(remedy);
}

nlohmann::ordered_json explanation_json(const Explanation& explanation) {
  return {{"id", explanation.id},
          {"title", explanation.title},
          {"cause", explanation.cause},
          {"predictor", or_null(explanation.predictor)},
          {"remedies", list_of(explanation.remedies)},
          {"seen", explanation.seen},
          {"source", or_null(explanation.source)},
          {"line", explanation.line},
          {"text", explanation.text},
          {"times", explanation.times},
          {"follows", or_null(explanation.follows)},
          {"verified", explanation.verified},
          {"harmless", explanation.harmless},
          {"mention", explanation.mention},
          {"guess", explanation.guess},
          {"sureness", explanation.sureness}};
}

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mynah::doctor
