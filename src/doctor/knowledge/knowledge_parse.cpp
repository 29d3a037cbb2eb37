#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "doctor/knowledge/knowledge_fields.h"
#include "doctor/knowledge/knowledge_files.h"
#include "formats/json.h"

namespace mynah::doctor {

namespace {

using Json = nlohmann::json;

// The files by name, without ".json".
using Files = std::map<std::string, Json, std::less<>>;

// "2026-11-24".
bool is_date(std::string_view text) {
  if (text.size() != 10) {
    return false;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9') {
      return false;
    }
  }
  return true;
}

Status check_format(const Json& json, const std::string& file) {
  if (!json.is_object() || !json.contains("format") || !json["format"].is_number_unsigned()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted an object with a number \"format\"", file));
  }
  if (json["format"].get<uint64_t>() != kKnowledgeFormat) {
    return fail(ErrorCode::Unsupported, fmt::format("{}: format: wanted {}, found {}", file,
                                                    kKnowledgeFormat, json["format"].dump()));
  }
  if (!json.contains("date") || !json["date"].is_string() ||
      !is_date(json["date"].get_ref<const std::string&>())) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: date: wanted a day as 2026-11-24", file));
  }
  return {};
}

// Reads the lists of one file. Every list but the notes must be there, and nothing else.
class FileReader {
 public:
  FileReader(const std::string& name, const Json& json, Knowledge& knowledge)
      : name_(name), json_(json), knowledge_(knowledge), reader_(name + ".json") {}

  [[nodiscard]] Status read() {
    MYNAH_TRY_STATUS(check_format(json_, name_ + ".json"));
    size_t known = 2;
    tables_of(knowledge_, [&](std::string_view file, const char* key, auto& facts) {
      if (file != name_) {
        return;
      }
      if (const auto found = json_.find(key); found != json_.end()) {
        ++known;
        reader_.read(*found, key, facts);
      } else {
        reader_.refuse("", fmt::format("wanted the field \"{}\", found none", key));
      }
    });
    if (const auto notes = json_.find("notes"); notes != json_.end()) {
      ++known;
      std::vector<Note> read;
      reader_.read(*notes, "notes", read);
      knowledge_.notes.insert(knowledge_.notes.end(), std::make_move_iterator(read.begin()),
                              std::make_move_iterator(read.end()));
    }
    if (known < json_.size()) {
      reader_.refuse("", "has a field that is not known");
    }
    knowledge_.date = std::max(knowledge_.date, json_["date"].get<std::string>());
    return reader_.status();
  }

 private:
  const std::string& name_;
  const Json& json_;
  Knowledge& knowledge_;
  FieldReader reader_;
};

Result<Knowledge> read_files(const Files& files) {
  Knowledge knowledge;
  std::map<std::string, bool, std::less<>> wanted;
  tables_of(knowledge,
            [&](const char* file, const char* /*key*/, auto& /*facts*/) { wanted[file] = true; });
  for (const auto& [name, is_wanted] : wanted) {
    if (!files.contains(name)) {
      return fail(ErrorCode::InvalidInput, fmt::format("wanted {}.json, found none", name));
    }
  }
  for (const auto& [name, json] : files) {
    if (!wanted.contains(name)) {
      return fail(ErrorCode::InvalidInput, fmt::format("does not know {}.json", name));
    }
    MYNAH_TRY_STATUS(FileReader(name, json, knowledge).read());
  }
  knowledge.index_facts();
  MYNAH_TRY_STATUS(check_knowledge(knowledge));
  return knowledge;
}

}  // namespace

Result<Knowledge> Knowledge::parse(std::span<const KnowledgeFile> files) {
  Files parsed;
  for (const KnowledgeFile& file : files) {
    MYNAH_TRY(Json json, parse_json(file.text, file.name));
    parsed[file.name.substr(0, file.name.rfind(".json"))] = std::move(json);
  }
  return read_files(parsed);
}

Result<Knowledge> Knowledge::parse_bundle(std::string_view text, const std::string& file) {
  MYNAH_TRY(const Json json, parse_json(text, file));
  MYNAH_TRY_STATUS(check_format(json, file));
  if (!json.contains("files") || !json["files"].is_object() || json.size() != 3) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted an object \"files\" beside format and date", file));
  }
  Files parsed;
  for (const auto& [name, content] : json["files"].items()) {
    parsed[name] = content;
  }
  Result<Knowledge> knowledge = read_files(parsed);
  if (!knowledge) {
    return std::unexpected(std::move(knowledge).error().while_doing(file));
  }
  if (knowledge->date != json["date"].get_ref<const std::string&>()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: date: wanted {}, that of its newest file, found {}", file,
                            knowledge->date, json["date"].get_ref<const std::string&>()));
  }
  return knowledge;
}

Result<Knowledge> newer_knowledge(const Knowledge& present, std::string_view text,
                                  const std::string& file) {
  MYNAH_TRY(Knowledge knowledge, Knowledge::parse_bundle(text, file));
  if (knowledge.date <= present.date) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: is of {}, and the knowledge base at hand is of {}: nothing newer",
                            file, knowledge.date, present.date));
  }
  return knowledge;
}

}  // namespace mynah::doctor
