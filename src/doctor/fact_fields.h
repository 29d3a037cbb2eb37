// The fields of every fact, once: what writes them and what reads them goes through these.
#pragma once

#include <span>
#include <string_view>

#include "doctor/facts.h"
#include "doctor/json_fields.h"

namespace mynah::doctor {

inline constexpr std::string_view kSystemWords[] = {"linux", "windows"};
inline constexpr std::string_view kWantWords[] = {"needed", "opened", "provided"};

constexpr std::span<const std::string_view> words_of(System /*value*/) {
  return kSystemWords;
}

constexpr std::span<const std::string_view> words_of(Want /*value*/) {
  return kWantWords;
}

// fields_of(fact, field) calls `field(name, member)` for each field of a fact, in the order of the
// file. Absent and empty are the same.

template <FactOf<Card> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("name", fact.name);
  field("compute_capability", fact.compute_capability);
  field("memory_mib", fact.memory_mib);
  field("pci", fact.pci);
  field("vendor", fact.vendor);
  field("kernel_driver", fact.kernel_driver);
  field("uuid", fact.uuid);
  field("slice", fact.slice);
  field("divided", fact.divided);
}

template <FactOf<Node> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("path", fact.path);
  field("state", fact.state);
  field("group", fact.group);
}

template <FactOf<Container> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("inside", fact.inside);
  field("runtimes", fact.runtimes);
  field("toolkit", fact.toolkit);
  field("cdi", fact.cdi);
  field("docker", fact.docker);
  field("docker_snap", fact.docker_snap);
}

template <FactOf<Machine> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("system", fact.system);
  field("name", fact.name);
  field("release", fact.release);
  field("kernel", fact.kernel);
  field("glibc", fact.glibc);
  field("processor_flags", fact.processor_flags);
  field("cards", fact.cards);
  field("driver", fact.driver);
  field("open_kernel_module", fact.open_kernel_module);
  field("closed_kernel_module", fact.closed_kernel_module);
  field("driver_libraries", fact.driver_libraries);
  field("no_driver_library", fact.no_driver_library);
  field("compat_libraries", fact.compat_libraries);
  field("nodes", fact.nodes);
  field("groups", fact.groups);
  field("wsl", fact.wsl);
  field("mig_instances", fact.mig_instances);
  field("container", fact.container);
  field("variables", fact.variables);
  field("kernel_log", fact.kernel_log);
  field("kernel_log_unread", fact.kernel_log_unread);
  field("slept", fact.slept);
  field("keeps_memory_asleep", fact.keeps_memory_asleep);
  field("library_folders", fact.library_folders);
  field("path_libraries", fact.path_libraries);
  field("cache_libraries", fact.cache_libraries);
}

template <FactOf<DeviceImage> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("ptx", fact.ptx);
  field("architecture", fact.architecture);
  field("variant", fact.variant);
  field("ptx_version", fact.ptx_version);
  field("zstd", fact.zstd);
}

template <FactOf<DeviceUnits> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("count", fact.count);
  field("images", fact.images);
}

template <FactOf<DeviceCode> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("file", fact.file);
  field("units", fact.units);
}

template <FactOf<LibraryWant> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("library", fact.library);
  field("want", fact.want);
  field("by", fact.by);
  field("found", fact.found);
  field("via", fact.via);
  field("elsewhere", fact.elsewhere);
  field("dead_path", fact.dead_path);
  field("lacks", fact.lacks);
  field("guessed", fact.guessed);
}

template <FactOf<Package> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("name", fact.name);
  field("version", fact.version);
  field("folder", fact.folder);
  field("requires", fact.requires_);
  field("extras", fact.extras);
  field("python", fact.python);
  field("tags", fact.tags);
  field("installer", fact.installer);
  field("origin", fact.origin);
}

template <FactOf<SharedPath> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("path", fact.path);
  field("owners", fact.owners);
  field("winner", fact.winner);
  field("others", fact.others);
}

template <FactOf<Framework> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("name", fact.name);
  field("package", fact.package);
  field("version", fact.version);
  field("cuda", fact.cuda);
  field("cudnn", fact.cudnn);
  field("hip", fact.hip);
  field("folder", fact.folder);
  field("code", fact.code);
  field("wants", fact.wants);
  field("cpu_features", fact.cpu_features);
  field("source", fact.source);
  field("unverified", fact.unverified);
}

template <FactOf<PythonEnvironment> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("path", fact.path);
  field("kind", fact.kind);
  field("python", fact.python);
  field("system", fact.system);
  field("packages", fact.packages);
  field("shared_paths", fact.shared_paths);
  field("frameworks", fact.frameworks);
}

template <FactOf<Requirement> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("name", fact.name);
  field("extras", fact.extras);
  field("specifier", fact.specifier);
  field("marker", fact.marker);
  field("url", fact.url);
  field("file", fact.file);
  field("line", fact.line);
  field("command", fact.command);
  field("locked", fact.locked);
  field("indexes", fact.indexes);
  field("replaces_index", fact.replaces_index);
  field("index_lines", fact.index_lines);
  field("group", fact.group);
  field("bound", fact.bound);
  field("overrides", fact.overrides);
  field("literal", fact.literal);
  field("step", fact.step);
  field("passed_over", fact.passed_over);
  field("hashed", fact.hashed);
}

template <FactOf<InstallStep> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("line", fact.line);
  field("environment", fact.environment);
  field("doubtful", fact.doubtful);
  field("renews", fact.renews);
  field("aside", fact.aside);
  field("unknown", fact.unknown);
  field("alone", fact.alone);
  field("managed", fact.managed);
  field("uv", fact.uv);
  field("legacy", fact.legacy);
  field("found", fact.found);
  field("joined", fact.joined);
  field("image", fact.image);
  field("python", fact.python);
  field("removes", fact.removes);
}

template <FactOf<IndexLine> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("url", fact.url);
  field("extra", fact.extra);
  field("explicit", fact.explicit_);
  field("one_command", fact.one_command);
  field("file", fact.file);
  field("line", fact.line);
}

template <FactOf<BaseImage> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("image", fact.image);
  field("tag", fact.tag);
  field("stage", fact.stage);
  field("platform", fact.platform);
  field("line", fact.line);
  field("literal", fact.literal);
}

template <FactOf<DeviceFault> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("what", fact.what);
  field("line", fact.line);
}

template <FactOf<Service> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("name", fact.name);
  field("image", fact.image);
  field("build", fact.build);
  field("target", fact.target);
  field("arguments", fact.arguments);
  field("platform", fact.platform);
  field("card", fact.card);
  field("runtime", fact.runtime);
  field("device_faults", fact.device_faults);
  field("card_ids", fact.card_ids);
  field("card_count", fact.card_count);
  field("cards_line", fact.cards_line);
  field("variables", fact.variables);
  field("variable_lines", fact.variable_lines);
  field("line", fact.line);
}

template <FactOf<IncludeLine> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("path", fact.path);
  field("line", fact.line);
  field("step", fact.step);
  field("edited", fact.edited);
  field("made_of", fact.made_of);
}

template <FactOf<DeviceBuild> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("command", fact.command);
  field("line", fact.line);
  field("image", fact.image);
  field("architectures", fact.architectures);
  field("doubtful", fact.doubtful);
}

template <FactOf<Recipe> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("path", fact.path);
  field("target", fact.target);
  field("arguments", fact.arguments);
  field("kind", fact.kind);
  field("python", fact.python);
  field("requirements", fact.requirements);
  field("steps", fact.steps);
  field("indexes", fact.indexes);
  field("images", fact.images);
  field("services", fact.services);
  field("includes", fact.includes);
  field("constraints", fact.constraints);
  field("include_lines", fact.include_lines);
  field("groups", fact.groups);
  field("variables", fact.variables);
  field("system_packages", fact.system_packages);
  field("builds", fact.builds);
  field("device_builds", fact.device_builds);
  field("doubts", fact.doubts);
}

template <FactOf<Toolkit> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("path", fact.path);
  field("system", fact.system);
  field("version", fact.version);
  field("headers", fact.headers);
  field("cub_version", fact.cub_version);
  field("gcc_most", fact.gcc_most);
  field("clang_most", fact.clang_most);
  field("msvc_least", fact.msvc_least);
  field("msvc_most", fact.msvc_most);
  field("host_compiler", fact.host_compiler);
  field("other_compilers", fact.other_compilers);
  field("on_path", fact.on_path);
  field("named", fact.named);
  field("visual_studio", fact.visual_studio);
}

template <FactOf<WantedModel> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("name", fact.name);
  field("storage", fact.storage);
  field("least_mib", fact.least_mib);
  field("most_mib", fact.most_mib);
}

template <FactOf<Facts> Fact, class Field>
void fields_of(Fact& fact, const Field& field) {
  field("machine", fact.machine);
  field("environments", fact.environments);
  field("recipes", fact.recipes);
  field("toolkits", fact.toolkits);
  field("wanted", fact.wanted);
  field("headroom_mib", fact.headroom_mib);
  field("skipped", fact.skipped);
}

}  // namespace mynah::doctor
