#include "cli/doctor_facts.h"

#include "cli/doctor_knowledge.h"
#include "doctor/facts_json.h"
#include "doctor/gather.h"

namespace mynah::cli {

Result<doctor::Facts> gathered_facts(Context& context, const std::vector<std::string>& places,
                                     const doctor::Knowledge& knowledge) {
  doctor::GatherRequest request;
  request.places.assign(places.begin(), places.end());
  for (const std::string& name : context.environment.names_with("")) {
    request.variables.emplace(name, context.environment.get(name).value_or(""));
  }
  return doctor::gather_facts(request, knowledge);
}

Result<doctor::Facts> written_facts(Context& context, const std::string& file) {
  // More than the facts of a machine with many environments.
  constexpr uint64_t kMostFactBytes = 256U << 20U;
  MYNAH_TRY(const std::string text, read_input(context, file, kMostFactBytes));
  return doctor::parse_facts(text, file == "-" ? "standard input" : file);
}

}  // namespace mynah::cli
