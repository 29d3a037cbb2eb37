#include "doctor/reports/stack_report.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/wrapped_text.h"
#include "doctor/reports/report_json.h"

namespace mynah::doctor {

namespace {

using Json = nlohmann::ordered_json;

std::string shaped(const StackPlan& plan, PlanShape shape) {
  return shape == PlanShape::Dockerfile ? dockerfile_text(plan) : requirements_text(plan);
}

Json json_of(const StackPlan& plan) {
  Json packages = Json::array();
  for (const PinnedPackage& package : plan.packages) {
    packages.push_back({{"name", package.name},
                        {"extras", or_null(package.extras)},
                        {"version", or_null(package.version)},
                        {"index", or_null(package.index)},
                        {"alone", package.alone},
                        {"reason", or_null(package.reason)}});
  }
  Json verdicts = Json::array();
  for (const FrameworkVerdict& verdict : plan.verdicts) {
    verdicts.push_back(part_json(verdict));
  }
  return {{"python", plan.python},
          {"packages", packages},
          {"verdicts", verdicts},
          {"library_folders", plan.library_folders},
          {"notes", plan.notes},
          {"requirements", requirements_text(plan)},
          {"dockerfile", dockerfile_text(plan)}};
}

template <class T>
Json parts(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) {
    list.push_back(part_json(value));
  }
  return list;
}

// Lines of a comparison.
class Lines {
 public:
  explicit Lines(const TextStyle& style) : style_(style) {}

  void head(std::string_view words) {
    text_ += text_.empty() ? "" : "\n";
    (text_ += words) += '\n';
  }

  // Wrapped, below the first word behind its label.
  void item(std::string_view label, std::string_view words) {
    constexpr size_t kItemIndent = 4;
    text_.append(kItemIndent, ' ').append(printable(label));
    text_ += wrapped(printable(words), kItemIndent + label.size(), style_.columns) + "\n";
  }

  void verbatim(std::string_view label, std::string_view words) {
    text_ += fmt::format("    {}{}\n", label, printable(words));
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const TextStyle& style_;
  std::string text_;
};

std::string change_words(const PackageChange& change) {
  std::string words =
      change_name(change.kind) == "added" ? change.to + ", added"
      : change_name(change.kind) == "removed"
          ? change.from + ", removed"
          : fmt::format("{} to {}, {}", change.from, change.to, change_name(change.kind));
  return change.effect.empty() ? words : fmt::format("{} ({})", words, change.effect);
}

std::string verdict_words(const VerdictChange& change) {
  if (change.to.empty()) {
    return fmt::format("{} {}, and is not in the second", change.from, outcome_name(change.before));
  }
  const std::string now = fmt::format("{} {}", change.to, outcome_name(change.after));
  const std::string then = change.from.empty()
                               ? "not in the first"
                               : fmt::format("{} {}", change.from, outcome_name(change.before));
  return change.reason.empty() ? fmt::format("{}; now {}", then, now)
                               : fmt::format("{}; now {}: {}", then, now, change.reason);
}

void add_findings(Lines& lines, std::string_view head, const std::vector<Finding>& findings) {
  if (findings.empty()) {
    return;
  }
  lines.head(head);
  for (const Finding& finding : findings) {
    lines.item(level_words(finding) + ": ", fmt::format("{}: {}", title_of(finding), finding.text));
  }
}

}  // namespace

std::string plan_text(const StackAnswer& answer, PlanShape shape) {
  if (answer.plan) {
    return shaped(*answer.plan, shape);
  }
  std::string text = answer.clash ? "# No versions go together as asked.\n"
                                  : "# No versions are known to work as asked.\n";
  for (const std::string& reason : answer.reasons) {
    text += fmt::format("# {}\n", printable(reason));
  }
  for (const StackChange& change : answer.changes) {
    text +=
        fmt::format("#\n# With {} there would be:\n{}", change.text, shaped(change.plan, shape));
  }
  if (answer.changes.empty()) {
    text += "# No single change of driver, Python or packages is known to make some.\n";
  }
  return text;
}

nlohmann::ordered_json plan_json(const StackAnswer& answer) {
  Json changes = Json::array();
  for (const StackChange& change : answer.changes) {
    changes.push_back({{"text", change.text}, {"plan", json_of(change.plan)}});
  }
  return {{"format", "mynah doctor plan"},
          {"version", kReportVersion},
          {"plan", answer.plan ? json_of(*answer.plan) : Json()},
          {"reasons", answer.reasons},
          {"changes", changes}};
}

std::string comparison_text(const Comparison& comparison, const TextStyle& style) {
  Lines lines(style);
  if (!comparison.machine.empty()) {
    lines.head("The machines");
    for (const MachineChange& change : comparison.machine) {
      const auto called = [](const std::string& value) {
        return value.empty() ? std::string("nothing known") : value;
      };
      lines.item(change.what + ": ",
                 fmt::format("{}; in the second {}", called(change.from), called(change.to)));
    }
  }
  const bool machines_alone = comparison.packages.empty() && comparison.same == 0 &&
                              !(comparison.machine.empty() && comparison.both.empty());
  if (!machines_alone) {
    lines.head(fmt::format("{} package{}, {} {} the same", comparison.packages.size(),
                           comparison.packages.size() == 1 ? " differs" : "s differ",
                           comparison.same, comparison.same == 1 ? "is" : "are"));
  }
  for (const PackageChange& change : comparison.packages) {
    lines.item(change.name + ": ", change_words(change));
  }
  if (!comparison.verdicts.empty()) {
    lines.head("What becomes of frameworks");
    for (const VerdictChange& change : comparison.verdicts) {
      lines.item(fmt::format("{} on {}: ", change.framework,
                             change.card.empty() ? "no card" : change.card),
                 verdict_words(change));
    }
  }
  add_findings(lines, "What breaks", comparison.breaks);
  add_findings(lines, "What is mended", comparison.mended);
  add_findings(lines, "What is wrong in both", comparison.both);
  if (!comparison.steps.empty()) {
    lines.head("From the first to the second");
    for (size_t i = 0; i < comparison.steps.size(); ++i) {
      const Remedy& step = comparison.steps[i];
      lines.item(fmt::format("{}. ", i + 1), step.text);
      if (!step.command.empty()) {
        lines.verbatim("   ", step.command);
      }
      if (!step.cost.empty()) {
        lines.item("   cost: ", step.cost);
      }
    }
  }
  return lines.take();
}

nlohmann::ordered_json comparison_json(const Comparison& comparison) {
  Json packages = Json::array();
  for (const PackageChange& change : comparison.packages) {
    packages.push_back({{"name", change.name},
                        {"change", change_name(change.kind)},
                        {"from", or_null(change.from)},
                        {"to", or_null(change.to)},
                        {"effect", or_null(change.effect)}});
  }
  Json machine = Json::array();
  for (const MachineChange& change : comparison.machine) {
    machine.push_back(
        {{"what", change.what}, {"from", or_null(change.from)}, {"to", or_null(change.to)}});
  }
  Json verdicts = Json::array();
  for (const VerdictChange& change : comparison.verdicts) {
    verdicts.push_back(
        {{"framework", change.framework},
         {"card", or_null(change.card)},
         {"from", or_null(change.from)},
         {"to", or_null(change.to)},
         {"before", change.from.empty() ? Json() : Json(outcome_name(change.before))},
         {"after", change.to.empty() ? Json() : Json(outcome_name(change.after))},
         {"reason", or_null(change.reason)}});
  }
  return {{"format", "mynah doctor comparison"},
          {"version", kReportVersion},
          {"worse", comparison.is_worse()},
          {"same", comparison.same},
          {"machine", machine},
          {"packages", packages},
          {"verdicts", verdicts},
          {"breaks", parts(comparison.breaks)},
          {"mended", parts(comparison.mended)},
          {"both", parts(comparison.both)},
          {"steps", parts(comparison.steps)}};
}

}  // namespace mynah::doctor
