// The fields of the knowledge base's files (json_fields.h).
#pragma once

#include "doctor/fact_fields.h"
#include "doctor/json_fields.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

template <class Field>
void source_fields(Source& fact, const Field& field) {
  field("verified", fact.verified, Presence::Wanted);
  field("source", fact.source);
}

template <class Field>
void fields_of(Claim& fact, const Field& field) {
  field("value", fact.value, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(Note& fact, const Field& field) {
  field("id", fact.id, Presence::Wanted);
  field("text", fact.text, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(VersionRange& fact, const Field& field) {
  field("from", fact.from, Presence::Wanted);
  field("below", fact.below);
}

template <class Field>
void fields_of(Architecture& fact, const Field& field) {
  field("compute_capability", fact.compute_capability, Presence::Wanted);
  field("name", fact.name, Presence::Wanted);
  field("tegra", fact.tegra);
  field("first_toolkit", fact.first_toolkit, Presence::Wanted);
  field("dropped_in", fact.dropped_in);
  field("last_driver", fact.last_driver);
  field("first_driver", fact.first_driver);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(Product& fact, const Field& field) {
  field("name", fact.name, Presence::Wanted);
  field("compute_capability", fact.compute_capability, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(DriverBranch& fact, const Field& field) {
  field("branch", fact.branch, Presence::Wanted);
  field("cuda", fact.cuda, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(PtxVersion& fact, const Field& field) {
  field("isa", fact.isa, Presence::Wanted);
  field("cuda", fact.cuda, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(DriverFloor& fact, const Field& field) {
  field("cuda", fact.cuda, Presence::Wanted);
  field("linux", fact.linux_driver, Presence::Wanted);
  field("windows", fact.windows_driver);
  source_fields(fact, field);
}

template <class Field>
void fields_of(HostCompilers& fact, const Field& field) {
  field("gcc_most", fact.gcc_most);
  field("clang_most", fact.clang_most);
  field("msvc", fact.msvc);
  source_fields(fact, field);
}

template <class Field>
void fields_of(CudaToolkit& fact, const Field& field) {
  field("cuda", fact.cuda, Presence::Wanted);
  field("driver_linux", fact.driver_linux);
  field("driver_windows", fact.driver_windows);
  field("ptx", fact.ptx, Presence::Wanted);
  field("ptx_verified", fact.ptx_verified, Presence::Wanted);
  field("cccl", fact.cccl);
  field("host", fact.host, Presence::Wanted);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(TorchVariant& fact, const Field& field) {
  field("cuda", fact.cuda, Presence::Wanted);
  field("architectures", fact.architectures, Presence::Wanted);
  field("ptx", fact.ptx, Presence::Wanted);
  field("windows_extra", fact.windows_extra);
  field("cudnn", fact.cudnn);
  field("compression", fact.compression);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(TorchRelease& fact, const Field& field) {
  field("torch", fact.torch, Presence::Wanted);
  field("python", fact.python, Presence::Wanted);
  field("torchaudio", fact.torchaudio);
  field("torchvision", fact.torchvision);
  field("torchcodec", fact.torchcodec);
  field("default_variant", fact.default_variant, Presence::Wanted);
  field("note", fact.note);
  field("variants", fact.variants, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(OnnxRuntimeRelease& fact, const Field& field) {
  field("versions", fact.versions, Presence::Wanted);
  field("cuda_major", fact.cuda_major, Presence::Wanted);
  field("built_with", fact.built_with);
  field("cudnn_major", fact.cudnn_major, Presence::Wanted);
  field("libraries", fact.libraries);
  field("dlls", fact.dlls);
  field("python", fact.python);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(CTranslate2Release& fact, const Field& field) {
  field("versions", fact.versions, Presence::Wanted);
  field("cuda_major", fact.cuda_major, Presence::Wanted);
  field("built_with", fact.built_with);
  field("cudnn_major", fact.cudnn_major, Presence::Wanted);
  field("opens", fact.opens, Presence::Wanted);
  field("python", fact.python);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(WheelCode& fact, const Field& field) {
  field("package", fact.package, Presence::Wanted);
  field("versions", fact.versions, Presence::Wanted);
  field("system", fact.system, Presence::Wanted);
  field("file", fact.file);
  field("cuda", fact.cuda);
  field("architectures", fact.architectures, Presence::Wanted);
  field("ptx", fact.ptx);
  field("ptx_isa", fact.ptx_isa);
  field("compression", fact.compression);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(PackageNeeds& fact, const Field& field) {
  field("package", fact.package, Presence::Wanted);
  field("versions", fact.versions, Presence::Wanted);
  field("requires", fact.requires_, Presence::Wanted);
  field("python", fact.python);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(PackageReleases& fact, const Field& field) {
  field("package", fact.package, Presence::Wanted);
  field("releases", fact.releases, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(PackageIndex& fact, const Field& field) {
  field("index", fact.index, Presence::Wanted);
  field("has", fact.has, Presence::Wanted);
  field("lacks", fact.lacks, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(Clash& fact, const Field& field) {
  field("first", fact.first, Presence::Wanted);
  field("second", fact.second, Presence::Wanted);
  field("text", fact.text, Presence::Wanted);
  field("error", fact.error);
  source_fields(fact, field);
}

template <class Field>
void fields_of(LlamaWheels& fact, const Field& field) {
  field("cuda", fact.cuda, Presence::Wanted);
  field("exists", fact.exists, Presence::Wanted);
  field("python", fact.python);
  field("needs", fact.needs);
  source_fields(fact, field);
}

template <class Field>
void fields_of(ModelMemory& fact, const Field& field) {
  field("name", fact.name, Presence::Wanted);
  field("storage", fact.storage, Presence::Wanted);
  field("engine", fact.engine, Presence::Wanted);
  field("least_mib", fact.least_mib, Presence::Wanted);
  field("most_mib", fact.most_mib, Presence::Wanted);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(Library& fact, const Field& field) {
  field("name", fact.name, Presence::Wanted);
  field("cuda_major", fact.cuda_major, Presence::Wanted);
  field("soname", fact.soname, Presence::Wanted);
  field("dll", fact.dll);
  field("wheel", fact.wheel);
  field("folder", fact.folder);
  field("note", fact.note);
  source_fields(fact, field);
}

template <class Field>
void fields_of(Opener& fact, const Field& field) {
  field("library", fact.library, Presence::Wanted);
  field("opens", fact.opens, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(Capability& fact, const Field& field) {
  field("name", fact.name, Presence::Wanted);
  field("libraries", fact.libraries, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(RemedyStep& step, const Field& field) {
  field("command", step.command);
  field("text", step.text, Presence::Wanted);
}

template <class Field>
void fields_of(ImageSystem& fact, const Field& field) {
  field("name", fact.name, Presence::Wanted);
  field("version", fact.version);
  field("codename", fact.codename);
  field("glibc", fact.glibc);
  field("python", fact.python);
  field("managed", fact.managed);
  source_fields(fact, field);
}

template <class Field>
void fields_of(GlibcWheels& fact, const Field& field) {
  field("package", fact.package, Presence::Wanted);
  source_fields(fact, field);
}

template <class Field>
void fields_of(Remedy& remedy, const Field& field) {
  field("command", remedy.command);
  field("text", remedy.text, Presence::Wanted);
  field("cost", remedy.cost);
  field("steps", remedy.steps);
}

template <class Field>
void fields_of(KnownError& fact, const Field& field) {
  field("id", fact.id, Presence::Wanted);
  field("title", fact.title, Presence::Wanted);
  field("patterns", fact.patterns, Presence::Wanted);
  field("cause", fact.cause, Presence::Wanted);
  field("predictor", fact.predictor, Presence::Wanted);
  field("remedies", fact.remedies, Presence::Wanted);
  field("follows", fact.follows);
  field("instead_of", fact.instead_of);
  field("beside", fact.beside);
  field("seen", fact.seen, Presence::Wanted);
  field("harmless", fact.harmless);
  source_fields(fact, field);
}

// Calls table(file, key, vector) for each list of the files: which stands where.
template <class Table>
void tables_of(Knowledge& knowledge, const Table& table) {
  table("cards", "architectures", knowledge.architectures);
  table("cards", "products", knowledge.products);
  table("drivers", "branches", knowledge.branches);
  table("drivers", "ptx", knowledge.ptx_versions);
  table("drivers", "floors", knowledge.floors);
  table("toolkits", "toolkits", knowledge.toolkits);
  table("torch", "releases", knowledge.torch);
  table("onnxruntime", "releases", knowledge.onnxruntime);
  table("ctranslate2", "releases", knowledge.ctranslate2);
  table("wheels", "wheels", knowledge.wheels);
  table("packages", "packages", knowledge.packages);
  table("releases", "releases", knowledge.releases);
  table("packages", "clashes", knowledge.clashes);
  table("packages", "indexes", knowledge.indexes);
  table("llama", "wheels", knowledge.llama_wheels);
  table("models", "models", knowledge.models);
  table("libraries", "libraries", knowledge.libraries);
  table("libraries", "openers", knowledge.openers);
  table("containers", "capabilities", knowledge.capabilities);
  table("containers", "systems", knowledge.systems);
  table("wheels", "glibc_only", knowledge.glibc_wheels);
  table("errors", "errors", knowledge.errors);
}

}  // namespace mynah::doctor
