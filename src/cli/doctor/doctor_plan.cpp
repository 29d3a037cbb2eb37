#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/doctor_knowledge.h"
#include "cli/doctor/doctor_machine.h"
#include "cli/doctor/doctor_options.h"
#include "cli/doctor/doctor_style.h"
#include "doctor/machine/card_names.h"
#include "doctor/plans/compare.h"
#include "doctor/plans/stack_plan.h"
#include "doctor/recipes/recipes.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/reports/report_json.h"
#include "doctor/reports/stack_report.h"
#include "formats/byte_reader.h"

namespace mynah::cli {

namespace {

using doctor::Facts;
using doctor::Knowledge;
using doctor::Machine;

// "torch>=2.4,<3,faster-whisper": what begins as a specifier goes on with the one before it.
Result<std::vector<doctor::Requirement>> wanted_of(const std::string& text) {
  constexpr std::string_view kRelations = "<>=!~";
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    const size_t first = part.find_first_not_of(' ');
    const bool goes_on =
        first != std::string::npos && kRelations.find(part[first]) != std::string_view::npos;
    if (goes_on && !parts.empty()) {
      parts.back() += "," + part;
    } else if (first != std::string::npos) {
      parts.push_back(std::move(part));
    }
    begin = end + 1;
  }
  std::vector<doctor::Requirement> wanted;
  for (const std::string& part : parts) {
    auto requirement = doctor::parse_requirement(part);
    if (!requirement) {
      return fail(ErrorCode::Usage, "--want: " + requirement.error().message);
    }
    if (!requirement->url.empty() || !requirement->marker.empty()) {
      return fail(
          ErrorCode::Usage,
          fmt::format(
              "--want: {} names {}, and a plan chooses by name and version alone", in_quotes(part),
              requirement->url.empty() ? "a condition behind ';'" : "the address of a file"));
    }
    wanted.push_back(*std::move(requirement));
  }
  if (wanted.empty()) {
    return fail(ErrorCode::Usage, "plan: say what is to work, as in --want faster-whisper,torch");
  }
  return wanted;
}

// "3.11" of "3.11" and of "3.11.4"; empty: whichever serves.
Result<std::string> python_of(const std::string& text) {
  if (text.empty()) {
    return text;
  }
  const std::span<const std::string_view> pythons = doctor::planned_pythons();
  const auto version = doctor::Version::parse(text);
  const bool plain = text.find_first_not_of("0123456789.") == std::string::npos && version &&
                     version->release.size() >= 2 && version->release.size() <= 3;
  std::string minor =
      plain ? fmt::format("{}.{}", version->release[0], version->release[1]) : std::string();
  if (std::ranges::find(pythons, minor) == pythons.end()) {
    return fail(ErrorCode::Usage,
                fmt::format("--python: wanted a version such as 3.11 ({} to {} are planned for), "
                            "found {}",
                            pythons.back(), pythons.front(), in_quotes(text)));
  }
  return minor;
}

// Those that a plan can be for: of NVIDIA, and of which it is known what they can do.
Status keep_cards(Machine& machine, const DoctorOptions& options, const Knowledge& knowledge) {
  doctor::name_capabilities(machine, knowledge, doctor::Trusted::All);
  std::vector<std::string> others;
  std::erase_if(machine.cards, [&](const doctor::Card& card) {
    const bool known = knowledge.architecture(card.compute_capability) != nullptr;
    if (!known) {
      others.push_back(card.name.empty() ? card.pci : card.name);
    }
    return !known;
  });
  if (!machine.cards.empty()) {
    return {};
  }
  const std::string where = options.as.empty() ? "here" : "in " + options.as;
  return fail(
      ErrorCode::Usage,
      fmt::format(
          "plan: {}; name the one that is meant, as in --gpu \"RTX 5090\" --driver 580.95.05",
          others.empty() ? fmt::format("no card of NVIDIA's is {}", where)
                         : fmt::format("what {} can do, which is {}, is not known",
                                       fmt::join(others, " and "), where)));
}

// Whether a side of a comparison is a file of facts, and no place.
bool is_facts(const std::string& place) {
  return place.ends_with(".json") && doctor::kind_by_name(place).empty();
}

// A side of a comparison: a file of facts, or a place.
Result<Facts> side_of(Context& context, const std::string& place, const Knowledge& knowledge) {
  return is_facts(place) ? written_facts(context, place, knowledge)
                         : gathered_facts(context, {place}, knowledge);
}

// Two files of facts are two machines, unless one is named that both are meant for.
Result<doctor::Comparison> compared(Context& context, const DoctorOptions& options, bool machines,
                                    const Facts& first, const Facts& second,
                                    const Knowledge& knowledge) {
  if (machines && options.gpus.empty() && options.as.empty() && options.driver.empty()) {
    return doctor::compare_machines(first, second, knowledge);
  }
  MYNAH_TRY(const Machine machine, machine_meant(context, options, knowledge));
  return doctor::compare(first, second, machine, knowledge);
}

}  // namespace

Result<int> doctor_plan(Context& context, const DoctorOptions& options) {
  doctor::StackWish wish;
  MYNAH_TRY(wish.wanted, wanted_of(options.want));
  const UsedKnowledge used = used_knowledge(context);
  MYNAH_TRY(wish.machine, machine_meant(context, options, used.get()));
  MYNAH_TRY_STATUS(keep_cards(wish.machine, options, used.get()));
  MYNAH_TRY(wish.python, python_of(options.python));
  const auto planned = doctor::plan_stack(wish, used.get());
  if (!planned) {
    return fail(ErrorCode::Usage, "--want: " + planned.error().message);
  }
  const doctor::StackAnswer& answer = *planned;
  if (context.json) {
    context.out.line(doctor::json_line(doctor::plan_json(answer)));
  } else {
    context.out.write(doctor::plan_text(answer, options.dockerfile
                                                    ? doctor::PlanShape::Dockerfile
                                                    : doctor::PlanShape::Requirements));
  }
  return answer.plan ? 0 : kDoctorFoundFault;
}

Result<int> doctor_compare(Context& context, const std::vector<std::string>& places,
                           const DoctorOptions& options) {
  if (places.size() != 2) {
    return fail(ErrorCode::Usage,
                fmt::format("compare: wanted two environments, lock files, trees or files of "
                            "facts, found {}",
                            places.size()));
  }
  const UsedKnowledge used = used_knowledge(context);
  MYNAH_TRY(const Facts first, side_of(context, places[0], used.get()));
  MYNAH_TRY(const Facts second, side_of(context, places[1], used.get()));
  MYNAH_TRY(const doctor::Comparison comparison,
            compared(context, options, is_facts(places[0]) && is_facts(places[1]), first, second,
                     used.get()));
  if (context.json) {
    context.out.line(doctor::json_line(doctor::comparison_json(comparison)));
  } else {
    context.out.write(doctor::comparison_text(comparison, text_style(context, options)));
  }
  return comparison.is_worse() ? kDoctorFoundFault : 0;
}

}  // namespace mynah::cli
