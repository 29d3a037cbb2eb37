#include "talk/tools/tools_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "formats/json.h"
#include "store/files.h"
#include "talk/tools/command_tool.h"
#include "talk/tools/own_tools.h"
#include "talk/tools/secret_file.h"

namespace mynah::talk {

namespace {

constexpr std::array<std::string_view, 6> kOwnNames = {"get_time",  "calculate",   "set_timer",
                                                       "set_alarm", "list_timers", "cancel_timer"};

std::unexpected<Error> refuse_file(const std::string& name, const std::string& what) {
  return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", name, what));
}

bool are_texts(const ToolJson& list) {
  return list.is_array() &&
         std::ranges::all_of(list, [](const ToolJson& one) { return one.is_string(); });
}

// Of a member that may be missing; `is_right` says whether it is what it should be.
template <class Right>
Result<ToolJson> member_of(const ToolJson& object, const char* member, std::string_view wanted,
                           Right is_right) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) {
    return ToolJson();
  }
  if (!is_right(*found)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("\"{}\": wanted {}, found {}", member, wanted, found->type_name()));
  }
  return *found;
}

Result<std::vector<std::string>> texts_of(const ToolJson& object, const char* member) {
  MYNAH_TRY(const ToolJson list, member_of(object, member, "a list of texts", are_texts));
  return list.is_null() ? std::vector<std::string>() : list.get<std::vector<std::string>>();
}

Result<std::vector<std::pair<std::string, std::string>>> pairs_of(const ToolJson& object,
                                                                  const char* member) {
  MYNAH_TRY(const ToolJson map,
            member_of(object, member, "an object of texts", [](const ToolJson& found) {
              return found.is_object() && std::ranges::all_of(found, [](const ToolJson& one) {
                       return one.is_string();
                     });
            }));
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [key, value] : map.items()) {
    // A line end would begin another header; a zero ends a variable.
    const auto is_plain = [](const std::string& text) {
      return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' '; });
    };
    if (key.empty() || !is_plain(key) || !is_plain(value.get_ref<const std::string&>())) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("\"{}\": wanted texts without control characters", member));
    }
    pairs.emplace_back(key, value.get<std::string>());
  }
  return pairs;
}

// What the user says of one tool: {"changes": false, "leaves": true}.
Result<ToolMarks> marks_of(const ToolJson& object) {
  if (!object.is_object()) {
    return fail(ErrorCode::InvalidInput, "wanted an object with \"changes\" or \"leaves\"");
  }
  ToolMarks marks;
  for (const auto& [key, value] : object.items()) {
    if ((key != "changes" && key != "leaves") || !value.is_boolean()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted \"changes\" or \"leaves\", true or false, found \"{}\": {}",
                              key, value.type_name()));
    }
    (key == "changes" ? marks.changes : marks.may_leave) = value.get<bool>();
  }
  return marks;
}

// Says which members of an object nobody reads: a slip stands for what was meant and is not done.
void note_unknown(const ToolJson& object, std::span<const std::string_view> known,
                  const std::string& where, std::string_view becomes,
                  std::vector<std::string>& notes) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [member, value] : object.items()) {
    if (std::ranges::find(known, member) == known.end()) {
      notes.push_back(fmt::format("{}: nothing is known of \"{}\"{}: it {}", where, member,
                                  suggestion(member, names), becomes));
    }
  }
}

constexpr std::array<std::string_view, 3> kFileMembers = {"tools", "mcpServers", "own"};
constexpr std::string_view kPassedOver = "is passed over";
constexpr std::array<std::string_view, 11> kToolMembers = {
    "type",  "function",     "name",    "description", "parameters", "strict",
    "title", "outputSchema", "command", "changes",     "leaves"};
constexpr std::array<std::string_view, 12> kServerMembers = {
    "type",      "command", "args",    "env",   "url",   "headers",
    "tokenFile", "caFile",  "timeout", "offer", "tools", "disabled"};

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<McpAddress> address_of(const ToolJson& server, const std::string& url,
                              std::vector<std::string>& notes) {
  const std::string type = mcp_text(server, "type");
  if (type == "sse") {
    return fail(ErrorCode::Unsupported,
                "\"type\": \"sse\" is the transport of 2024, which is not spoken here: wanted the "
                "server's address of streamable HTTP (often /mcp)");
  }
  McpAddress address;
  MYNAH_TRY(address.url, parse_url(url));
  MYNAH_TRY(address.headers, pairs_of(server, "headers"));
  MYNAH_TRY(const ToolJson token_file,
            member_of(server, "tokenFile", "a file's name",
                      [](const ToolJson& found) { return found.is_string(); }));
  MYNAH_TRY(const ToolJson ca_file,
            member_of(server, "caFile", "a file's name",
                      [](const ToolJson& found) { return found.is_string(); }));
  if (!token_file.is_null()) {
    MYNAH_TRY(address.token, read_secret_file(token_file.get<std::string>()));
    if (address.url.scheme == "http" && !is_loopback(address.url.host)) {
      notes.push_back(fmt::format("the token in {} goes to {} for all to read on the way (http)",
                                  token_file.get<std::string>(), address.url.host));
    }
  }
  if (!ca_file.is_null()) {
    address.options.ca_file = ca_file.get<std::string>();
  }
  return address;
}

// None: it is not wanted now.
Result<std::optional<McpServerEntry>> server_of(const std::string& name, const ToolJson& server,
                                                std::vector<std::string>& notes) {
  if (!server.is_object()) {
    return fail(ErrorCode::InvalidInput, "wanted an object with \"command\" or \"url\"");
  }
  const auto is_true = [](const ToolJson& found) { return found.is_boolean(); };
  MYNAH_TRY(const ToolJson disabled, member_of(server, "disabled", "true or false", is_true));
  if (disabled.is_boolean() && disabled.get<bool>()) {
    return std::nullopt;
  }
  note_unknown(server, kServerMembers, fmt::format("\"mcpServers\": \"{}\"", name), kPassedOver,
               notes);
  McpServerEntry entry;
  entry.name = name;
  const std::string command = mcp_text(server, "command");
  const std::string url = mcp_text(server, "url");
  if (command.empty() == url.empty()) {
    return fail(ErrorCode::InvalidInput, "wanted one of \"command\" and \"url\", a text");
  }
  if (!command.empty()) {
    entry.command.emplace();
    entry.command->command = command;
    MYNAH_TRY(entry.command->arguments, texts_of(server, "args"));
    MYNAH_TRY(entry.command->environment, pairs_of(server, "env"));
  } else {
    MYNAH_TRY(entry.address, address_of(server, url, notes));
  }
  MYNAH_TRY(const ToolJson timeout,
            member_of(server, "timeout", "seconds from 1 to 3600", [](const ToolJson& found) {
              return found.is_number() && found.get<double>() >= 1 && found.get<double>() <= 3600;
            }));
  if (!timeout.is_null()) {
    entry.patience.call =
        std::chrono::milliseconds(static_cast<int64_t>(timeout.get<double>() * 1000));
    entry.patience.longest = std::max(entry.patience.longest, entry.patience.call);
  }
  if (entry.address) {
    entry.address->options.stall_timeout = std::max(entry.patience.call, entry.patience.greeting);
  }
  MYNAH_TRY(entry.offered, texts_of(server, "offer"));
  MYNAH_TRY(const ToolJson marks,
            member_of(server, "tools", "an object of tools",
                      [](const ToolJson& found) { return found.is_object(); }));
  for (const auto& [tool, said] : marks.items()) {
    auto of_tool = marks_of(said);
    if (!of_tool) {
      return std::unexpected(
          std::move(of_tool).error().while_doing(fmt::format("\"tools\": \"{}\"", tool)));
    }
    entry.marks.emplace(tool, *of_tool);
  }
  return entry;
}

}  // namespace

Result<ToolsFile> ToolsFile::read(const std::string& path) {
  MYNAH_TRY(const std::string text, read_text_file(path));
  return parse(text, path);
}

Result<ToolsFile> ToolsFile::parse(const std::string& text, const std::string& name) {
  MYNAH_TRY(const ToolJson json, parse_ordered_json(text, name));
  ToolsFile file;
  const bool is_whole = json.is_object() && (json.contains("tools") ||
                                             json.contains("mcpServers") || json.contains("own"));
  if (!is_whole) {
    MYNAH_TRY_STATUS(file.add_described(json.is_object() ? ToolJson::array({json}) : json, name));
    return file;
  }
  note_unknown(json, kFileMembers, name, kPassedOver, file.notes_);
  if (const auto list = json.find("tools"); list != json.end()) {
    MYNAH_TRY_STATUS(file.add_described(*list, name));
  }
  if (const auto servers = json.find("mcpServers"); servers != json.end()) {
    MYNAH_TRY_STATUS(file.add_servers(*servers, name));
  }
  if (const auto own = json.find("own"); own != json.end()) {
    MYNAH_TRY_STATUS(file.add_own(*own, name));
  }
  return file;
}

Status ToolsFile::add_described(const ToolJson& list, const std::string& name) {
  if (!list.is_array()) {
    return refuse_file(name, "wanted a JSON list of tools");
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const ToolJson& tool = list[i];
    const bool is_wrapped = tool.is_object() && tool.contains("function");
    const ToolJson& function = is_wrapped ? tool["function"] : tool;
    if (!function.is_object() || mcp_text(function, "name").empty()) {
      return refuse_file(name,
                         fmt::format("tool {}: wanted {{\"type\": \"function\", \"function\": "
                                     "{{\"name\": ..., \"parameters\": ...}}}}",
                                     i + 1));
    }
    Described described;
    described.facts.name = mcp_text(function, "name");
    note_unknown(tool, kToolMembers, fmt::format("{}: tool {}", name, described.facts.name),
                 is_wrapped ? kPassedOver : "goes to the model as it stands", notes_);
    described.facts.description = mcp_text(function, "description");
    described.facts.parameters = function.value("parameters", ToolJson());
    described.facts.origin = name;
    described.facts.told = function;
    for (const char* own : {"command", "changes", "leaves"}) {
      described.facts.told.erase(own);
    }
    const ToolJson words = tool.value("command", ToolJson());
    if (words.is_string()) {
      described.command = {"/bin/sh", "-c", words.get<std::string>()};
    } else if (are_texts(words) && !words.empty()) {
      described.command = words.get<std::vector<std::string>>();
    } else if (!words.is_null()) {
      return refuse_file(name, fmt::format("tool {}: wanted a command that is a text or a list of "
                                           "words",
                                           described.facts.name));
    }
    for (const auto& [member, fact] :
         {std::pair("changes", &described.facts.changes), {"leaves", &described.facts.may_leave}}) {
      const auto found = tool.find(member);
      if (found != tool.end() && !found->is_boolean()) {
        return refuse_file(name, fmt::format("tool {}: \"{}\": wanted true or false",
                                             described.facts.name, member));
      }
      *fact = found == tool.end() ? *fact : found->get<bool>();
    }
    described_.push_back(std::move(described));
  }
  return {};
}

Status ToolsFile::add_servers(const ToolJson& servers, const std::string& name) {
  if (!servers.is_object()) {
    return refuse_file(name, "\"mcpServers\": wanted an object of servers");
  }
  for (const auto& [server, json] : servers.items()) {
    auto entry = server_of(server, json, notes_);
    if (!entry) {
      return std::unexpected(std::move(entry).error().while_doing(
          fmt::format("{}: \"mcpServers\": \"{}\"", name, server)));
    }
    if (*entry) {
      servers_.push_back(**std::move(entry));
    }
  }
  return {};
}

Status ToolsFile::add_own(const ToolJson& own, const std::string& name) {
  if (own.is_boolean()) {
    own_.assign(own.get<bool>() ? kOwnNames.begin() : kOwnNames.end(), kOwnNames.end());
    return {};
  }
  if (!are_texts(own)) {
    return refuse_file(name, "\"own\": wanted true or a list of tools of mynah's");
  }
  const std::vector<std::string> known(kOwnNames.begin(), kOwnNames.end());
  for (const ToolJson& one : own) {
    const auto tool = one.get<std::string>();
    if (std::ranges::find(known, tool) == known.end()) {
      return refuse_file(
          name, fmt::format("\"own\": there is no tool '{}'{}", tool, suggestion(tool, known)));
    }
    own_.push_back(tool);
  }
  return {};
}

Result<OpenedTools> open_tools(const ToolsFile& file, const ToolSurroundings& surroundings) {
  OpenedTools opened;
  const NowOf now = [] {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  };
  std::vector<std::shared_ptr<Tool>> own = {make_clock_tool(now), make_calculator()};
  // The other four are of timers, whose file is made where one of them is wanted.
  const bool has_timers = std::ranges::any_of(file.own(), [&own](const std::string& wanted) {
    return std::ranges::none_of(
        own, [&wanted](const auto& tool) { return tool->facts().name == wanted; });
  });
  if (has_timers) {
    MYNAH_TRY(opened.timers, Timers::open(surroundings.timers));
    std::ranges::copy(make_timer_tools(opened.timers, now), std::back_inserter(own));
  }
  for (const auto& tool : own) {
    if (std::ranges::find(file.own(), tool->facts().name) != file.own().end()) {
      opened.box.add(tool);
    }
  }
  if (!surroundings.folder.empty()) {
    MYNAH_TRY(const auto files, make_file_tools(surroundings.folder));
    for (const auto& tool : files) {
      opened.box.add(tool);
    }
  }
  for (const ToolsFile::Described& described : file.described()) {
    if (!described.command.empty()) {
      opened.box.add(make_command_tool(described.facts, described.command));
    } else if (surroundings.described) {
      opened.box.add(surroundings.described(described.facts));
    }
  }
  for (const McpServerEntry& server : file.servers()) {
    opened.box.add(std::make_unique<McpServerTools>(server));
  }
  return opened;
}

}  // namespace mynah::talk
