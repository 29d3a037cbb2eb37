#include "doctor/errors/explain.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "doctor/errors/capability_text.h"
#include "doctor/errors/error_search.h"
#include "doctor/errors/log_text.h"
#include "doctor/errors/mentions.h"
#include "doctor/errors/nearest_error.h"
#include "doctor/errors/neighbours.h"
#include "doctor/errors/patterns.h"

namespace mynah::doctor {

namespace {

constexpr size_t kLongestLine = 300;  // of a log that is shown again

// What was found of one error.
struct Found {
  size_t error = 0;  // or Hit::kLibrary
  size_t at = 0;     // the first place
  uint64_t line = 0;
  uint64_t times = 0;
  Captures captures;
  bool mention = false;    // all lines so far merely speak of it
  uint64_t looked_at = 0;  // the line by which that was last decided
};

// By error; several libraries may be missing.
using FoundErrors = std::map<std::pair<size_t, std::string>, Found>;

// The error that a place stands for whose words are of `error`, by the numbers beside it.
size_t meant(size_t error, std::string_view text, size_t at, const Knowledge& knowledge) {
  const std::string& id = knowledge.errors[error].id;
  const KnownError* other = knowledge.error(error_by_capability(id, text, at));
  return other == nullptr ? error : static_cast<size_t>(other - knowledge.errors.data());
}

FoundErrors find_errors(std::string_view text, const Knowledge& knowledge) {
  FoundErrors all;
  size_t counted = 0;  // lines of text before here are in `line`
  uint64_t line = 1;
  uint64_t explained = 0;  // the last line that shows a known error
  Neighbours neighbours(text, knowledge);
  ErrorSearch(knowledge).run(text, [&](const Hit& hit) {
    line +=
        static_cast<uint64_t>(std::ranges::count(text.substr(counted, hit.begin - counted), '\n'));
    counted = hit.begin;
    const bool is_library = hit.error == Hit::kLibrary;
    // A line that is explained already says which library it is about.
    if (is_library && line == explained) {
      return;
    }
    explained = is_library ? explained : line;
    const std::string name = is_library ? hit.captures.at("library") : std::string();
    const size_t error =
        is_library ? hit.error
                   : neighbours.meant(meant(hit.error, text, hit.begin, knowledge), hit.begin);
    const auto [place, is_new] = all.try_emplace({error, name});
    Found& found = place->second;
    if (is_new) {
      found.error = error;
      found.at = hit.begin;
      found.line = line;
    }
    if (is_new || (found.mention && line != found.looked_at)) {
      const bool mention = only_mentions(text, hit.begin, hit.end);
      found.looked_at = line;
      if (found.mention && !mention) {
        found.at = hit.begin;
        found.line = line;
        found.captures = {};
      }
      found.mention = mention;
    }
    ++found.times;
    found.captures.insert(hit.captures.begin(), hit.captures.end());
  });
  return all;
}

// None where a {name} of one of them has no value.
std::optional<std::vector<RemedyStep>> filled_steps(const std::vector<RemedyStep>& steps,
                                                    const Captures& captures) {
  std::vector<RemedyStep> done;
  for (const RemedyStep& step : steps) {
    auto command = filled(step.command, captures);
    auto text = filled(step.text, captures);
    if (!command || !text) {
      return std::nullopt;
    }
    done.push_back({.command = *std::move(command), .text = *std::move(text)});
  }
  return done;
}

std::vector<Remedy> filled_remedies(const KnownError& error, const Captures& captures) {
  std::vector<Remedy> remedies;
  for (const Remedy& remedy : error.remedies) {
    auto command = filled(remedy.command, captures);
    auto text = filled(remedy.text, captures);
    auto steps = filled_steps(remedy.steps, captures);
    if (command && text && steps) {
      remedies.push_back({.command = *std::move(command),
                          .text = *std::move(text),
                          .cost = remedy.cost,
                          .steps = *std::move(steps)});
    }
  }
  return remedies;
}

Explanation of_error(const KnownError& error, const Captures& captures) {
  Explanation explanation;
  explanation.id = error.id;
  explanation.title = error.title;
  explanation.cause = error.cause;
  explanation.predictor = error.predictor;
  explanation.remedies = filled_remedies(error, captures);
  explanation.seen = error.seen;
  explanation.source = error.source;
  explanation.verified = error.verified;
  explanation.harmless = error.harmless;
  return explanation;
}

// "nvidia-cudnn-cu12==9.*": cuDNN's wheels of both versions have one name.
std::string requirement(const Library& library) {
  const std::string_view name = library.name;
  const std::string_view version = name.starts_with("cudnn8")   ? "==8.*"
                                   : name.starts_with("cudnn9") ? "==9.*"
                                                                : "";
  return library.wheel + std::string(version);
}

// The line that puts a wheel's folder ("nvidia/cublas/lib") on the loader's way.
std::string path_line(std::string_view folder) {
  std::string module(folder.substr(0, folder.rfind('/')));
  std::ranges::replace(module, '/', '.');
  return fmt::format(
      "export LD_LIBRARY_PATH=\"$(python -c 'import {} as m; print(m.__path__[0])')"
      "/lib:$LD_LIBRARY_PATH\"",
      module);
}

Explanation of_library(const std::string& name, const Knowledge& knowledge) {
  Explanation explanation;
  explanation.id = "library";
  explanation.title = fmt::format("{} is not on the loader's way", name);
  explanation.predictor = fmt::format("{} among NEEDED, or opened by name", name);
  for (const Library* library : knowledge.libraries_named(name)) {
    explanation.source = library->source;
    explanation.verified = library->verified;
    if (library->wheel.empty()) {
      explanation.cause = "It comes with NVIDIA's driver, and with no package.";
      explanation.remedies.push_back(
          {.command = {},
           .text = "Install NVIDIA's driver, or start the container with cards",
           .cost = {}});
      continue;
    }
    explanation.cause =
        "It is a part of CUDA that wheels bring into site-packages, where only programs look that "
        "were told to.";
    explanation.remedies.push_back(
        {.command = {},
         .text = fmt::format("For programs of CUDA {}", library->cuda_major),
         .cost = {},
         .steps = {{.command = fmt::format("pip install \"{}\"", requirement(*library)),
                    .text = "Install it as a wheel"},
                   {.command = path_line(library->folder),
                    .text = "Put its folder on the loader's way before the program starts"}}});
  }
  return explanation;
}

// 0: a root, 1: a consequence, 2: no harm or no more than a mention.
int rank_of(const Explanation& explanation) {
  return explanation.harmless || explanation.mention ? 2 : explanation.follows.empty() ? 0 : 1;
}

}  // namespace

std::vector<Explanation> explain(std::string_view log, const Knowledge& knowledge) {
  const size_t skipped = log.size() - std::min(log.size(), kMostLogBytes);
  const auto lines_skipped =
      static_cast<uint64_t>(std::ranges::count(log.substr(0, skipped), '\n'));
  const std::string text = plain_log(log.substr(skipped));
  const FoundErrors all = find_errors(text, knowledge);
  std::vector<Explanation> explanations;
  bool harm = false;
  for (const auto& [key, found] : all) {
    Explanation explanation = found.error == Hit::kLibrary
                                  ? of_library(key.second, knowledge)
                                  : of_error(knowledge.errors[found.error], found.captures);
    explanation.line = lines_skipped + found.line;
    explanation.text = printable_line(text, found.at, kLongestLine);
    explanation.times = found.times;
    explanation.mention = found.mention;
    if (found.error != Hit::kLibrary) {
      for (const std::string& root : knowledge.errors[found.error].follows) {
        const auto index = static_cast<size_t>(knowledge.error(root) - knowledge.errors.data());
        const auto cause = all.find({index, {}});
        if (explanation.follows.empty() && cause != all.end() && !cause->second.mention) {
          explanation.follows = root;
        }
      }
    }
    harm |= !explanation.harmless;
    explanations.push_back(std::move(explanation));
  }
  if (!harm) {
    const auto nearest = nearest_error(text, knowledge);
    if (nearest && meant(nearest->error, text, nearest->at, knowledge) == nearest->error) {
      Explanation guess = of_error(knowledge.errors[nearest->error], {});
      guess.line = lines_skipped + 1 +
                   static_cast<uint64_t>(std::ranges::count(text.substr(0, nearest->at), '\n'));
      guess.text = printable_line(text, nearest->at, kLongestLine);
      guess.times = 1;
      guess.guess = true;
      guess.sureness = nearest->sureness;
      explanations.push_back(std::move(guess));
    }
  }
  std::ranges::stable_sort(explanations, {}, [](const Explanation& explanation) {
    return std::pair(rank_of(explanation), explanation.line);
  });
  return explanations;
}

}  // namespace mynah::doctor
