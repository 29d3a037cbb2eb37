#include "doctor/verdicts/int8_products.h"

#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/remedy_plan.h"
#include "doctor/versions.h"

namespace mynah::doctor {

std::optional<Finding> int8_finding(const Framework& framework,
                                    const PythonEnvironment& environment, const Card& card,
                                    const Judged& judged, const Machine& machine,
                                    const Knowledge& knowledge) {
  const auto version = Version::parse(framework.version);
  const auto mended = Version::parse("4.6.2");
  const Note* note = knowledge.note("ctranslate2 int8 on sm_120");
  const int capability = target_of(card, machine, knowledge).capability;
  if (framework.name != "ctranslate2" || capability / 10 != 12 || !version || !mended ||
      *version >= *mended || note == nullptr || !computes_on_card(judged)) {
    return std::nullopt;
  }
  Finding finding;
  finding.rule = "int8 products";
  finding.level = Level::Warning;
  finding.certainty = note->verified ? Certainty::Certain : Certainty::Likely;
  finding.card = card.name;
  finding.text =
      "compute_type int8 fails on this card, and so does auto where it chooses int8; float16, "
      "bfloat16 and float32 work.";
  finding.evidence = {{note->text, note->source}};
  finding.error = "cuBLAS failed with status CUBLAS_STATUS_NOT_SUPPORTED";
  finding.remedies = {{"", "Ask for compute_type=\"float16\".", ""}};
  const auto whole = Version::parse("4.7.0");
  const auto newer =
      whole ? known_framework("ctranslate2", *whole, environment.system, knowledge) : std::nullopt;
  if (newer && computes_on_card(judge_framework(*newer, &card, machine, knowledge, &environment))) {
    finding.remedies.push_back(
        {install_command(environment) + " 'ctranslate2>=4.7.0'",
         "Take CTranslate2 4.7.0 or later, which computes int8 on this card.", ""});
  }
  return finding;
}

}  // namespace mynah::doctor
