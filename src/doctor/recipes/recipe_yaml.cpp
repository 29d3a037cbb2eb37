#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirements_file.h"
#include "doctor/recipes/shell_variables.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

// One line of the list "pip:", which may be an option as in a requirements file.
void add_pip_line(Recipe& recipe, const TextTree& item) {
  Recipe lines;
  lines.path = recipe.path;
  read_requirements_file(item.text, lines);
  for (Requirement& requirement : lines.requirements) {
    requirement.line = item.line;
    add_requirement(recipe, std::move(requirement));
  }
  for (IndexLine& index : lines.indexes) {
    index.line = item.line;
    recipe.indexes.push_back(std::move(index));
  }
  for (std::string& path : lines.includes) {
    add_include(recipe, recipe.includes, std::move(path), item.line);
  }
  for (std::string& path : lines.constraints) {
    add_include(recipe, recipe.constraints, std::move(path), item.line);
  }
  for (const std::string& doubt : lines.doubts) {
    add_doubt(recipe, item.line, doubt_of(doubt).what);
  }
}

// `environment:` and `args:` are tables, or lists of "NAME=value".
std::map<std::string, std::string> variables_of(const TextTree& tree) {
  std::map<std::string, std::string> variables;
  for (const TextTree::Member& member : tree.members) {
    if (tree.is_table()) {
      variables.insert_or_assign(member.name, member.value.text);
      continue;
    }
    const std::string& text = member.value.text;
    const size_t equals = std::min(text.find('='), text.size());
    variables.insert_or_assign(text.substr(0, equals),
                               text.substr(std::min(equals + 1, text.size())));
  }
  return variables;
}

// Where the variables of `environment:` stand.
std::map<std::string, uint64_t> variable_lines_of(const TextTree& tree) {
  std::map<std::string, uint64_t> lines;
  for (const TextTree::Member& member : tree.members) {
    const std::string& name = tree.is_table() ? member.name : member.value.text;
    lines.insert_or_assign(name.substr(0, name.find('=')), member.value.line);
  }
  return lines;
}

// Build arguments; one that the environment gives is not known, and so stays a variable.
std::map<std::string, std::string> arguments_of(const TextTree& tree) {
  std::map<std::string, std::string> arguments = variables_of(tree);
  for (auto& [name, value] : arguments) {
    value = substituted(value, {});
  }
  for (const TextTree::Member& member : tree.members) {
    const TextTree& value = member.value;
    if (tree.is_table() ? value.is_nothing() : value.text.find('=') == std::string::npos) {
      const std::string& name = tree.is_table() ? member.name : value.text;
      arguments.insert_or_assign(name, "${" + name + "}");
    }
  }
  return arguments;
}

// deploy.resources.reservations.devices.
const TextTree& reserved_devices(const TextTree& service) {
  return service["deploy"]["resources"]["reservations"]["devices"];
}

// Compose wants capabilities of each (its newest releases take a driver in their place), and
// either a number or ids; where `gpus:` stands, the capability is clear.
std::vector<DeviceFault> device_faults(const TextTree& service) {
  std::vector<DeviceFault> faults;
  for (const TextTree::Member& item : reserved_devices(service).members) {
    const TextTree& device = item.value;
    if (device.is_table() && !device.has("capabilities")) {
      const bool driver = device.has("driver");
      faults.push_back({.what = driver ? "a driver and no capabilities" : "no capabilities",
                        .line = device.line});
    }
  }
  for (const TextTree* devices : {&reserved_devices(service), &service["gpus"]}) {
    for (const TextTree::Member& item : devices->members) {
      if (item.value.has("count") && item.value.has("device_ids")) {
        faults.push_back({.what = "count and device_ids", .line = item.value.line});
      }
    }
  }
  return faults;
}

// Of reserved devices one that has the capability "gpu", or NVIDIA's driver, or does not say which
// it is.
bool reserves_card(const TextTree& service) {
  for (const TextTree::Member& item : reserved_devices(service).members) {
    const TextTree& device = item.value;
    if (device.is_table() && !device.has("capabilities") && !device.has("driver")) {
      return true;
    }
    for (const TextTree::Member& capability : device["capabilities"].members) {
      if (capability.value.text == "gpu" || capability.value.text == "nvidia") {
        return true;
      }
    }
    if (device["driver"].text == "nvidia" || device["driver"].text == "cdi") {
      return true;
    }
  }
  // `gpus:` is "all" or a list; `devices:` may name a card of a CDI specification or a node.
  if (service.has("gpus") && service["gpus"].text != "0") {
    return true;
  }
  return std::ranges::any_of(service["devices"].members, [](const TextTree::Member& device) {
    const std::string& text = device.value.text;
    return text.starts_with("nvidia.com/gpu") || text.starts_with("/dev/nvidia");
  });
}

// Which cards a service reserves, and how many: of one reservation, beside which nothing gives it
// others.
void read_reserved_cards(const TextTree& tree, Service& service) {
  const TextTree& devices = tree["gpus"].members.empty() ? reserved_devices(tree) : tree["gpus"];
  const bool other = (&devices != &tree["gpus"] && tree.has("gpus")) || tree.has("devices") ||
                     (&devices == &tree["gpus"] && !reserved_devices(tree).members.empty());
  if (devices.members.size() != 1 || other || service.card != true) {
    return;
  }
  const TextTree& device = devices.members.front().value;
  if (!device.is_table() || device.has("count") == device.has("device_ids")) {
    return;
  }
  // "all", a slice and what a variable says are not known.
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.size() < 4 && std::ranges::all_of(text, is_digit);
  };
  const auto is_card = [&](const TextTree::Member& id) {
    return is_number(id.value.text) || id.value.text.starts_with("GPU-");
  };
  const TextTree& ids = device["device_ids"];
  service.cards_line = ids.members.empty() ? device.line : ids.members.front().value.line;
  if (!ids.members.empty() && std::ranges::all_of(ids.members, is_card)) {
    for (const TextTree::Member& id : ids.members) {
      service.card_ids.push_back(id.value.text);
    }
    service.card_count = ids.members.size();
  } else if (const std::string& count = device["count"].text; is_number(count)) {
    service.card_count = static_cast<uint64_t>(std::stoul(count));
  }
}

std::string dockerfile_of(const TextTree& build, const Recipe& recipe) {
  if (build.is_nothing()) {
    return {};
  }
  const std::string context = substituted(build.is_text() ? build.text : build["context"].text, {});
  if (is_address(context) || build.has("dockerfile_inline")) {
    return {};
  }
  const std::string file = substituted(build["dockerfile"].text, {});
  const std::string folder = beside(recipe.path, context.empty() ? "." : context);
  return (std::filesystem::path(folder) / (file.empty() ? "Dockerfile" : file))
      .lexically_normal()
      .string();
}

// "linux/arm64": what a service runs on, or else the one that it is built for.
std::string platform_of(const TextTree& service) {
  const TextTree& platforms = service["build"]["platforms"];
  const bool one = service["platform"].text.empty() && platforms.members.size() == 1;
  return substituted(one ? platforms.members.front().value.text : service["platform"].text, {});
}

// Reads a service and what it extends, a few steps far; loops end there, too.
Service read_service(const TextTree& services, const TextTree::Member& member, Recipe& recipe,
                     int steps) {
  constexpr int kMostSteps = 8;
  const TextTree& tree = member.value;
  Service service;
  service.name = member.name;
  service.line = tree.line;
  service.image = substituted(tree["image"].text, {});
  const TextTree& extends = tree["extends"];
  const TextTree& build = tree["build"];
  const bool half_build = !extends.is_nothing() && build.is_table() && !build.has("context") &&
                          !build.has("dockerfile");
  service.build = half_build ? std::string() : dockerfile_of(build, recipe);
  if (!service.build.empty() || half_build) {
    service.target = substituted(tree["build"]["target"].text, {});
    service.arguments = arguments_of(tree["build"]["args"]);
  }
  service.platform = platform_of(tree);
  if (service.platform.starts_with("linux/arm64") && !service.build.empty()) {
    // Docker sets these itself.
    service.arguments.insert_or_assign("TARGETPLATFORM", service.platform);
    service.arguments.insert_or_assign("TARGETARCH", "arm64");
  }
  service.card = reserves_card(tree);
  service.device_faults = device_faults(tree);
  if (tree["runtime"].text == "nvidia" && service.card == false) {
    service.runtime = "nvidia";
    service.card = true;
  }
  read_reserved_cards(tree, service);
  service.variables = variables_of(tree["environment"]);
  service.variable_lines = variable_lines_of(tree["environment"]);
  const std::string& base = extends.is_text() ? extends.text : extends["service"].text;
  bool elsewhere = extends.has("file");
  if (!base.empty() && !elsewhere && steps < kMostSteps) {
    for (const TextTree::Member& other : services.members) {
      if (other.name == base) {
        extend_service(read_service(services, other, recipe, steps + 1), service);
        break;
      }
    }
  }
  // Half a service: the rest of it stands in another file.
  elsewhere |= service.image.empty() && tree["build"].is_nothing();
  if (elsewhere && service.card == false) {
    service.card.reset();
  }
  if (extends.has("file")) {
    const std::string file = substituted(extends["file"].text, {});
    service.extends = {.file = beside(recipe.path, file), .service = base};
  }
  return service;
}

std::string env_file_name(const TextTree& entry) {
  return entry.is_text() ? entry.text : entry["path"].text;
}

}  // namespace

void read_conda_environment(const TextTree& tree, Recipe& recipe) {
  recipe.kind = "conda";
  for (const TextTree::Member& item : tree["dependencies"].members) {
    if (item.value.is_text()) {
      add_conda_requirement(recipe, item.value.text, item.value.line);
    }
    for (const TextTree::Member& line : item.value["pip"].members) {
      if (line.value.is_text()) {
        add_pip_line(recipe, line.value);
      }
    }
  }
  recipe.variables = variables_of(tree["variables"]);
}

void extend_service(const Service& base, Service& service) {
  service.image = service.image.empty() ? base.image : service.image;
  if (service.build.empty()) {
    service.build = base.build;
    service.target = service.target.empty() ? base.target : service.target;
    service.arguments.insert(base.arguments.begin(), base.arguments.end());
  }
  service.platform = service.platform.empty() ? base.platform : service.platform;
  const bool own_card = service.card == true;
  service.runtime = own_card ? service.runtime : base.runtime;
  service.card = own_card || base.card == true ? std::optional(true)
                 : service.card                ? service.card
                                               : base.card;
  service.device_faults.insert(service.device_faults.end(), base.device_faults.begin(),
                               base.device_faults.end());
  if (base.card == true) {  // reservations of both are added to each other
    service.card_ids = own_card ? std::vector<std::string>() : base.card_ids;
    service.card_count = own_card ? std::nullopt : base.card_count;
    service.cards_line = 0;
  }
  for (const auto& [name, value] : base.variables) {
    service.variables.emplace(name, value);
  }
  service.extends = base.extends;
}

void read_compose(const TextTree& tree, Recipe& recipe) {
  constexpr size_t kMostServices = 500;
  recipe.kind = "compose";
  const TextTree& services = tree["services"];
  for (const TextTree::Member& member : services.members) {
    if (recipe.services.size() == kMostServices) {
      add_doubt(recipe, member.value.line, "there are more services than are read");
      break;
    }
    Service service = read_service(services, member, recipe, 0);
    if (!service.build.empty()) {
      add_include(recipe, recipe.includes, service.build, service.line);
    }
    for (const auto& [name, value] : service.arguments) {
      if (value.find('$') != std::string::npos) {
        add_doubt(recipe, member.value.line,
                  fmt::format("{} is built with {}, whose value is not known",
                              in_quotes(member.name), name));
      }
    }
    if (const TextTree& inside = member.value["build"]["dockerfile_inline"]; inside.is_text()) {
      add_doubt(recipe, inside.line,
                fmt::format("the Dockerfile within {} was not read", in_quotes(member.name)));
    }
    // Files of variables may hold secrets: they are named and not read.
    const TextTree& files = member.value["env_file"];
    if (files.is_text()) {
      add_doubt(recipe, files.line, fmt::format("{} was not read", in_quotes(files.text)));
    }
    for (const TextTree::Member& file : files.members) {
      add_doubt(recipe, files.line,
                fmt::format("{} was not read", in_quotes(env_file_name(file.value))));
    }
    recipe.services.push_back(std::move(service));
  }
  if (tree.has("include")) {
    add_doubt(recipe, tree["include"].line, "files behind \"include:\" were not read");
  }
}

}  // namespace mynah::doctor
