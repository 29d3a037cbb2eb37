#include "doctor/verdicts/framework_rules.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/framework_files.h"
#include "doctor/verdicts/int8_products.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/remedies.h"
#include "doctor/verdicts/remedy_plan.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

// Those that must have device code to be of use on a card. Of the others, which may compute by way
// of torch alone, nothing is said where nothing was seen.
bool has_own_kernels(const Framework& framework) {
  return framework.name == "torch" || framework.name == "onnxruntime" ||
         framework.name == "ctranslate2" || framework.name == "llama-cpp-python";
}

// Cards that differ in nothing that decides.
std::vector<const Card*> different_cards(const Machine& machine) {
  std::vector<const Card*> cards;
  for (const Card& card : machine.cards) {
    const bool again = std::ranges::any_of(cards, [&](const Card* other) {
      return other->name == card.name && other->compute_capability == card.compute_capability &&
             other->vendor == card.vendor && other->kernel_driver == card.kernel_driver;
    });
    if (!again) {
      cards.push_back(&card);
    }
  }
  // A card of another maker beside NVIDIA's is for the screen.
  if (std::ranges::any_of(cards, [](const Card* card) { return card->vendor == "10de"; })) {
    std::erase_if(cards,
                  [](const Card* card) { return !card->vendor.empty() && card->vendor != "10de"; });
  }
  if (cards.empty()) {
    cards.push_back(nullptr);
  }
  return cards;
}

struct NamedCuda {
  std::string version;
  std::string what;
  std::string where;
};

// CUDA versions that a user may take for the framework's own: of images and toolkits.
std::vector<NamedCuda> named_cuda(const Facts& facts) {
  std::vector<NamedCuda> named;
  if (const auto set = facts.machine.variables.find("CUDA_VERSION");
      set != facts.machine.variables.end()) {
    named.push_back({set->second, "this image", "CUDA_VERSION"});
  }
  for (const Recipe& recipe : facts.recipes) {
    for (const BaseImage& image : recipe.images) {
      if (image.image.contains("cuda") && cuda_number(image.tag) != 0) {
        named.push_back({image.tag.substr(0, image.tag.find('-')),
                         fmt::format("the image {}:{}", image.image, image.tag),
                         fmt::format("{}:{}", recipe.path, image.line)});
      }
    }
  }
  for (const Toolkit& toolkit : facts.toolkits) {
    named.push_back({toolkit.version, "the toolkit", toolkit.path});
  }
  return named;
}

// Who reads "CUDA 13.0" on an image thinks that it is the wheel's.
void add_named_cuda(const Framework& framework, const Facts& facts, Finding& finding) {
  for (const NamedCuda& named : named_cuda(facts)) {
    if (framework.cuda && !framework.cuda->empty() &&
        cuda_number(named.version) != cuda_number(*framework.cuda)) {
      finding.evidence.push_back(
          {fmt::format("{} is of CUDA {}, which the wheel does not use: it was built with CUDA {} "
                       "and brings that one's libraries",
                       named.what, named.version, *framework.cuda),
           named.where});
    }
  }
}

void judge_on_card(const Framework& framework, const PythonEnvironment& environment,
                   const Card* card, Diagnosis& diagnosis) {
  const Facts& facts = diagnosis.facts;
  Judged judged =
      judge_framework(framework, card, facts.machine, diagnosis.knowledge, &environment);
  if (judged.cause == Cause::CodeUnknown && !has_own_kernels(framework)) {
    return;
  }
  judged.verdict.environment = environment.path;
  diagnosis.report.verdicts.push_back(judged.verdict);
  const std::string subject =
      environment.path.empty()
          ? framework_title(framework)
          : fmt::format("{} in {}", framework_title(framework), environment.path);
  for (Finding& finding : judged.findings) {
    finding.subject = subject;
  }
  if (card != nullptr) {
    auto int8 =
        int8_finding(framework, environment, *card, judged, facts.machine, diagnosis.knowledge);
    if (int8) {
      int8->subject = subject;
      diagnosis.report.findings.push_back(*std::move(int8));
    }
  }
  if (judged.findings.empty()) {
    return;
  }
  Finding& first = judged.findings.front();
  if (judged.cause == Cause::NoCode) {
    add_named_cuda(framework, facts, first);
  }
  if (card != nullptr && first.level != Level::Note) {
    first.remedies =
        remedies_for(framework, judged, *card, facts.machine, environment, diagnosis.knowledge);
  }
  std::ranges::move(judged.findings, std::back_inserter(diagnosis.report.findings));
}

}  // namespace

void judge_frameworks(Diagnosis& diagnosis) {
  const std::vector<const Card*> cards = different_cards(diagnosis.facts.machine);
  for (const PythonEnvironment& environment : diagnosis.facts.environments) {
    for (const Framework& framework : environment.frameworks) {
      if (is_cuda_library(framework)) {
        continue;
      }
      for (const Card* card : cards) {
        judge_on_card(framework, environment, card, diagnosis);
      }
    }
  }
}

}  // namespace mynah::doctor
