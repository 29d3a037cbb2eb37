#include "cli/models/surroundings.h"

#include <memory>

#include <fmt/format.h>

#include "cli/models/store_access.h"

namespace mynah::cli {

namespace {

bool offer_pull(const Context& context, const CatalogueEntry& entry) {
  if (!context.in.is_terminal() || !context.err.is_terminal() || context.json) {
    return false;
  }
  context.err.write(
      fmt::format("The model {} is not here yet: {:.0f} MB, licence {}. Pull it now? [Y/n] ",
                  entry.name, static_cast<double>(entry.download_bytes) / 1e6, entry.licence));
  context.err.flush();
  const auto answer = context.in.read_line();
  return answer && (answer->empty() || answer->front() == 'y' || answer->front() == 'Y');
}

}  // namespace

engine::Surroundings surroundings_of(const Context& context) {
  return {
      .environment = context.environment,
      .stop = context.stop,
      .tell =
          [&context](const engine::Note& note) {
            context.say(note.remedy.empty() ? note.text : note.text + "; " + note.remedy);
          },
      .may_pull = [&context](const CatalogueEntry& entry) { return offer_pull(context, entry); },
      .watch_pull = [&context] { return std::make_unique<StoreProgress>(context); }};
}

}  // namespace mynah::cli
