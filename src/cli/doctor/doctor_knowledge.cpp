#include "cli/doctor/doctor_knowledge.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "cli/doctor/doctor_options.h"
#include "store/files.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;
using doctor::Knowledge;

Result<int> show(Context& context) {
  const UsedKnowledge used = used_knowledge(context);
  const Knowledge& knowledge = used.get();
  if (context.json) {
    const Json object = {{"date", knowledge.date},
                         {"file", used.brought ? Json(used.file) : Json()},
                         {"errors", knowledge.errors.size()},
                         {"program_date", doctor::builtin_knowledge().date}};
    context.out.line(object.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    context.out.line(fmt::format("knowledge of {}, {} known errors: {}", knowledge.date,
                                 knowledge.errors.size(),
                                 used.brought ? used.file : std::string("the program's own")));
  }
  return 0;
}

}  // namespace

std::string knowledge_path(const Environment& environment) {
  return environment.data_folder() + "/doctor/knowledge.json";
}

UsedKnowledge used_knowledge(const Context& context) {
  const std::string path = knowledge_path(context.environment);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return {};
  }
  Result<std::string> text = read_text_file(path, kMostKnowledgeBytes);
  if (!text) {
    context.say(text.error().message + "; the program's own knowledge is used");
    return {};
  }
  Result<Knowledge> knowledge = Knowledge::parse_bundle(*text, path);
  if (!knowledge) {
    context.say(knowledge.error().message + "; the program's own knowledge is used");
    return {};
  }
  // A newer mynah may know more than what was brought to an older one.
  if (knowledge->date <= doctor::builtin_knowledge().date) {
    return {};
  }
  return {.brought = *std::move(knowledge), .file = path};
}

Result<std::string> read_input(Context& context, const std::string& path, uint64_t most) {
  if (path != "-") {
    return read_text_file(path, most);
  }
  std::string text = context.in.read_to_end(most + 1);
  if (text.size() > most) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("standard input: wanted at most {} bytes, found more", most));
  }
  return text;
}

Result<int> doctor_update(Context& context, const std::vector<std::string>& words,
                          const DoctorOptions& options) {
  if (options.show) {
    return words.empty() ? show(context)
                         : fail(ErrorCode::Usage,
                                "update --show takes no file, found '" + words.front() + "'");
  }
  if (words.size() != 1) {
    return fail(
        ErrorCode::Usage,
        fmt::format("update: wanted one file of knowledge, or - for standard input, found {}",
                    words.size()));
  }
  const std::string& file = words.front();
  MYNAH_TRY(const std::string text, read_input(context, file, kMostKnowledgeBytes));
  const UsedKnowledge present = used_knowledge(context);
  MYNAH_TRY(const Knowledge knowledge,
            doctor::newer_knowledge(present.get(), text,
                                    file == "-" ? std::string("standard input") : file));
  const std::string path = knowledge_path(context.environment);
  MYNAH_TRY_STATUS(make_folders(std::filesystem::path(path).parent_path().string()));
  MYNAH_TRY(AtomicFile kept, AtomicFile::create(path));
  MYNAH_TRY_STATUS(kept.write(text));
  MYNAH_TRY_STATUS(kept.commit());
  if (context.json) {
    const Json object = {{"date", knowledge.date},
                         {"file", path},
                         {"errors", knowledge.errors.size()},
                         {"before", present.get().date}};
    context.out.line(object.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    context.out.line(fmt::format("knowledge of {} is used from now on (before: {})", knowledge.date,
                                 present.get().date));
  }
  return 0;
}

}  // namespace mynah::cli
