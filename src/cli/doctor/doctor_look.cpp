#include <array>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/host_name.h"
#include "cli/command/program.h"
#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/doctor_knowledge.h"
#include "cli/doctor/doctor_machine.h"
#include "cli/doctor/doctor_options.h"
#include "cli/doctor/doctor_resolve.h"
#include "cli/doctor/doctor_style.h"
#include "cli/files/named_output.h"
#include "doctor/diagnose.h"
#include "doctor/facts_json.h"
#include "doctor/machine/card_names.h"
#include "doctor/recipes/alignment.h"
#include "doctor/reports/redact.h"
#include "doctor/reports/report_html.h"
#include "doctor/reports/report_json.h"
#include "doctor/reports/report_text.h"

namespace mynah::cli {

namespace {

using doctor::Facts;
using doctor::Report;

// What is judged, and on which machine.
Result<MeantMachine> facts_of(Context& context, const std::vector<std::string>& places,
                              const DoctorOptions& options, const doctor::Knowledge& knowledge) {
  MYNAH_TRY(MeantMachine meant, meant_machine(context, options, knowledge));
  if (!meant.elsewhere) {
    MYNAH_TRY(meant.facts, gathered_facts(context, places, knowledge));
    if (!options.driver.empty()) {
      replace_driver(meant.facts.machine, options.driver);
    }
    return meant;
  }
  doctor::name_capabilities(meant.facts.machine, knowledge, doctor::Trusted::Verified);
  if (!options.as.empty() && places.empty()) {
    // All of it is of that machine, and nothing is from here.
    meant.about = options.driver.empty() ? "" : meant.about;
    return meant;
  }
  meant.about += "; what is judged was read here";
  // Of a machine of which the card alone is told the rest is as it is here.
  MYNAH_TRY(Facts here, gathered_facts(context, places, knowledge,
                                       doctor::OtherMachine{.machine = meant.facts.machine,
                                                            .own_libraries = !options.as.empty()}));
  here.wanted = std::move(meant.facts.wanted);
  here.headroom_mib = meant.facts.headroom_mib;
  meant.facts = std::move(here);
  return meant;
}

// Takes out of all who and where this is.
void redact(const Context& context, const DoctorOptions& options, MeantMachine& meant,
            Report& report, doctor::Alignment& alignment) {
  Facts& facts = meant.facts;
  const bool here = options.as.empty();
  doctor::Redactor redactor(facts, here ? context.environment.get("USER").value_or("") : "",
                            here ? host_name() : "");
  redactor.redact(facts);
  redactor.redact(report);
  redactor.redact(alignment);
  meant.about = redactor.redacted(meant.about);
}

Status check_options(const std::vector<std::string>& places, const DoctorOptions& options,
                     const Context& context) {
  if (options.html == "-" && (options.facts || context.json)) {
    return fail(ErrorCode::Usage,
                "--html - writes its page to standard output, where nothing else can be");
  }
  if (options.facts && !options.html.empty()) {
    return fail(ErrorCode::Usage, "--facts judges nothing, so that --html has nothing to show");
  }
  std::vector<NamedPath> inputs;
  std::vector<NamedPath> outputs;
  if (!options.as.empty() && options.as != "-") {
    inputs.push_back({"--as", options.as});
  }
  if (!options.html.empty()) {
    outputs.push_back({"--html", options.html});
  }
  if (options.resolve) {
    MYNAH_TRY_STATUS(check_resolve(places, options));
  }
  return check_distinct(inputs, outputs);
}

}  // namespace

Result<int> doctor_look(Context& context, const std::vector<std::string>& places,
                        const DoctorOptions& options) {
  MYNAH_TRY_STATUS(check_options(places, options, context));
  std::optional<NamedOutput> page;
  if (!options.html.empty()) {
    MYNAH_TRY(page, NamedOutput::open(options.html, context.out));
  }
  const UsedKnowledge used = used_knowledge(context);
  MYNAH_TRY(MeantMachine meant, facts_of(context, places, options, used.get()));
  const Facts& facts = meant.facts;
  Report report;
  doctor::Alignment alignment;
  if (!options.facts) {
    report = doctor::diagnose(facts, used.get());
    alignment = doctor::align(facts, used.get());
  }
  const doctor::Level worst = report.worst();
  if (options.redact) {
    redact(context, options, meant, report, alignment);
  }
  if (options.facts) {
    context.out.line(context.json
                         ? doctor::json_line(doctor::to_json(facts))
                         : doctor::to_json(facts).dump(
                               1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return 0;
  }
  const doctor::ReportFrame frame{.report = report,
                                  .facts = facts,
                                  .program = version_text(false),
                                  .knowledge_date = used.get().date,
                                  .alignment = alignment.columns.size() > 1 ? &alignment : nullptr,
                                  .everywhere = places.empty() && options.as.empty(),
                                  .about = meant.about};
  if (page) {
    const std::string html = doctor::report_html(frame);
    MYNAH_TRY_STATUS(page->sink().write(std::as_bytes(std::span(html))));
    MYNAH_TRY_STATUS(page->commit());
  }
  if (context.json) {
    context.out.line(doctor::json_line(doctor::report_json(frame)));
  } else if (options.html != "-") {
    context.out.write(doctor::report_text(frame, text_style(context, options)));
  }
  bool worse = false;
  if (options.resolve) {
    MYNAH_TRY(worse, doctor_resolve(context, places, options, facts, used.get()));
  }
  const bool fault =
      worse || worst == doctor::Level::Fail ||
      (options.strict && std::ranges::any_of(report.findings, [](const auto& finding) {
         return finding.level == doctor::Level::Unknown;
       }));
  return fault ? kDoctorFoundFault : 0;
}

}  // namespace mynah::cli
