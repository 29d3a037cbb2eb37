#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "cli/doctor_facts.h"
#include "cli/doctor_knowledge.h"
#include "cli/doctor_options.h"
#include "cli/doctor_style.h"
#include "doctor/plans/compare.h"
#include "doctor/plans/stack_plan.h"
#include "doctor/recipes/recipes.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/reports/report_json.h"
#include "doctor/reports/stack_report.h"
#include "formats/byte_reader.h"

namespace mynah::cli {

namespace {

using doctor::Card;
using doctor::Facts;
using doctor::Knowledge;
using doctor::Machine;

// A card by its product's name, or by a compute capability: "RTX 5090", "12.0".
Result<Card> card_named(const std::string& name, const Knowledge& knowledge) {
  Card card;
  card.vendor = "10de";  // NVIDIA's
  if (const doctor::Product* const product = knowledge.card(name)) {
    card.name = product->name;
    card.compute_capability = product->compute_capability;
    return card;
  }
  if (knowledge.architecture(name) != nullptr) {
    card.name = "compute capability " + name;
    card.compute_capability = name;
    return card;
  }
  std::vector<std::string> names;
  for (const doctor::Product& product : knowledge.products) {
    names.push_back(product.name);
  }
  return fail(ErrorCode::Usage,
              fmt::format("--gpu: the knowledge base has no card {}{}; its compute capability will "
                          "do, too, as in --gpu 8.6",
                          in_quotes(name), suggestion(name, names)));
}

// The machine that is meant: that of --gpu and --driver, of --as, or this one.
Result<Machine> machine_meant(Context& context, const DoctorOptions& options,
                              const Knowledge& knowledge) {
  Machine machine;
  if (!options.gpus.empty() && !options.as.empty()) {
    return fail(
        ErrorCode::Usage,
        fmt::format("--gpu and --as both say which card is meant: leave out one of --gpu {} "
                    "and --as {}",
                    fmt::join(options.gpus, ","), options.as));
  }
  if (options.gpus.empty()) {
    MYNAH_TRY(Facts facts, options.as.empty() ? gathered_facts(context, {}, knowledge)
                                              : written_facts(context, options.as));
    machine = std::move(facts.machine);
  }
  for (const std::string& name : options.gpus) {
    MYNAH_TRY(Card card, card_named(name, knowledge));
    machine.cards.push_back(std::move(card));
  }
  if (!options.driver.empty()) {
    if (!doctor::Version::parse(options.driver)) {
      return fail(ErrorCode::Usage,
                  fmt::format("--driver: wanted a version such as 580.95.05, found {}",
                              in_quotes(options.driver)));
    }
    machine.driver = options.driver;
  }
  return machine;
}

bool is_nvidia(const Card& card) {
  return !card.compute_capability.empty();
}

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
    wanted.push_back(*std::move(requirement));
  }
  if (wanted.empty()) {
    return fail(ErrorCode::Usage, "plan: say what is to work, as in --want faster-whisper,torch");
  }
  return wanted;
}

// A side of a comparison: a file of facts, or a place.
Result<Facts> side_of(Context& context, const std::string& place, const Knowledge& knowledge) {
  const bool is_recipe = !doctor::kind_by_name(place).empty();
  if (place.ends_with(".json") && !is_recipe) {
    return written_facts(context, place);
  }
  return gathered_facts(context, {place}, knowledge);
}

}  // namespace

Result<int> doctor_plan(Context& context, const DoctorOptions& options) {
  doctor::StackWish wish;
  MYNAH_TRY(wish.wanted, wanted_of(options.want));
  const UsedKnowledge used = used_knowledge(context);
  MYNAH_TRY(wish.machine, machine_meant(context, options, used.get()));
  std::erase_if(wish.machine.cards, [](const Card& card) { return !is_nvidia(card); });
  if (wish.machine.cards.empty()) {
    return fail(ErrorCode::Usage,
                "plan: no card of NVIDIA's is here; name the one that is meant, as in --gpu \"RTX "
                "5090\" --driver 580.95.05");
  }
  if (!options.python.empty() && !doctor::Version::parse(options.python)) {
    return fail(ErrorCode::Usage, fmt::format("--python: wanted a version such as 3.11, found {}",
                                              in_quotes(options.python)));
  }
  wish.python = options.python;
  MYNAH_TRY(const doctor::StackAnswer answer, doctor::plan_stack(wish, used.get()));
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
  MYNAH_TRY(const Machine machine, machine_meant(context, options, used.get()));
  const doctor::Comparison comparison = doctor::compare(first, second, machine, used.get());
  if (context.json) {
    context.out.line(doctor::json_line(doctor::comparison_json(comparison)));
  } else {
    context.out.write(doctor::comparison_text(comparison, text_style(context, options)));
  }
  return comparison.is_worse() ? kDoctorFoundFault : 0;
}

}  // namespace mynah::cli
