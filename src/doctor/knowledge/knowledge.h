// What the doctor knows of cards, drivers, toolkits and packages: facts, each with its source and
// whether that source was read. They stand in src/doctor/knowledge/*.json, which the program holds;
// `mynah doctor update FILE` brings newer ones. A fact that is not verified never makes a FAIL.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/versions.h"

namespace mynah::doctor {

// Where a fact comes from.
struct Source {
  bool verified = false;  // the source was read, or the thing itself
  std::string source;     // addresses or words; may be empty where nothing was read

  bool operator==(const Source&) const = default;
};

// A text that is known, and where from.
struct Claim : Source {
  std::string value;
};

// A sentence that a finding may show as the reason for its rule.
struct Note : Source {
  std::string id;  // "zstd", "onnxruntime loader"
  std::string text;
};

// Versions from one on, up to another that is no longer meant.
struct VersionRange {
  Version from;
  std::optional<Version> below;  // none: those that came later, too

  // A version's pre-, post-, development and local parts do not count.
  [[nodiscard]] bool contains(const Version& version) const;
};

// What one compute capability is called, and who compiles for it.
struct Architecture : Source {
  std::string compute_capability;  // "6.1"
  std::string name;                // "Pascal"
  bool tegra = false;              // on a system on a chip: it shares no machine code with others
  std::string note;
  Claim first_toolkit;                // CUDA version
  std::optional<Claim> dropped_in;    // CUDA version whose compilers no longer know it
  std::optional<Claim> last_driver;   // branch, "580": later ones ignore such cards
  std::optional<Claim> first_driver;  // branch
};

// A card that is sold by this name.
struct Product : Source {
  std::string name;  // "GeForce RTX 5090"
  std::string compute_capability;
};

// A branch of drivers, which is the first number of their versions.
struct DriverBranch : Source {
  int branch = 0;
  std::string cuda;  // the newest CUDA version that it is made for
};

// A version of the PTX language, and the CUDA version whose drivers compile it.
struct PtxVersion : Source {
  std::string isa;   // "8.7"
  std::string cuda;  // "12.8"
};

// The oldest drivers that programs of these CUDA versions start on (minor-version compatibility):
// machine code alone, no PTX of a newer language.
struct DriverFloor : Source {
  VersionRange cuda;
  std::string linux_driver;
  std::string windows_driver;  // empty: not known
};

struct HostCompilers : Source {
  std::optional<int> gcc_most;
  std::optional<int> clang_most;
  std::string msvc;  // words
};

struct CudaToolkit : Source {
  std::string cuda;          // "12.8.1"
  std::string driver_linux;  // that comes with it; empty: none, or not known
  std::string driver_windows;
  std::string ptx;  // the PTX language that it writes
  bool ptx_verified = false;
  std::string cccl;  // version of Thrust, CUB and libcu++; empty: not known
  HostCompilers host;
  std::string note;
};

// PyTorch's wheels of one release for one CUDA version.
struct TorchVariant : Source {
  std::string cuda;                        // "cu126"
  std::vector<std::string> architectures;  // "9.0"; empty: not known
  std::vector<std::string> ptx;            // the same, of PTX
  std::vector<std::string> windows_extra;  // that Windows wheels hold besides
  std::string cudnn;                       // "9.10.2.21"; empty: not known
  std::optional<Claim> compression;        // of device code: "zstd"
  std::string note;
};

struct TorchRelease : Source {
  std::string torch;  // "2.7"
  SpecifierSet python;
  std::optional<Claim> torchaudio;   // release
  std::optional<Claim> torchvision;  // release
  std::optional<Claim> torchcodec;   // specifier
  Claim default_variant;             // of Linux wheels on the Python index
  std::string note;
  std::vector<TorchVariant> variants;

  [[nodiscard]] const TorchVariant* variant(std::string_view cuda) const;
};

// onnxruntime-gpu of the Python index.
struct OnnxRuntimeRelease : Source {
  VersionRange versions;
  int cuda_major = 0;
  std::string built_with;  // CUDA version; empty: not known
  int cudnn_major = 0;
  std::vector<std::string> libraries;  // of Linux, that its CUDA provider needs
  std::vector<std::string> dlls;
  SpecifierSet python;  // that Linux's wheels are for
  std::string note;
};

struct CTranslate2Release : Source {
  VersionRange versions;
  int cuda_major = 0;
  std::string built_with;
  int cudnn_major = 0;             // 0: it uses none
  std::vector<std::string> opens;  // libraries, by name, at run time
  SpecifierSet python;
  std::string note;
};

// Device code that wheels were found to hold.
struct WheelCode : Source {
  std::string package;
  VersionRange versions;
  System system = System::Linux;
  std::string file;                        // of the wheel, that decides
  std::string cuda;                        // it was built with; empty: not known
  std::vector<std::string> architectures;  // "9.0a": that one alone; "10.0f": its family
  std::vector<std::string> ptx;
  std::string ptx_isa;      // empty: no PTX
  std::string compression;  // "lz4", "zstd", "none"; empty: not known
  std::string note;
};

// What a package asks for.
struct PackageNeeds : Source {
  std::string package;
  VersionRange versions;
  std::vector<std::string> requires_;  // PEP 508
  std::string python;                  // specifier; empty: not known
  std::string note;
};

// The releases of a package that the Python index has.
struct PackageReleases : Source {
  std::string package;
  std::vector<Version> releases;  // the newest first
};

// What the list of a package's releases says of a version.
enum class Listing : uint8_t {
  NotKnown,  // there is no list, or the version is older than the list, or of a kind that it leaves
             // out: a release before the final one, or a repetition of one (.post1)
  There,
  Missing,  // others, older and newer ones, are there
  Newer     // than all that are listed: it may have come since
};

// What an index of packages beside the Python index has.
struct PackageIndex : Source {
  std::string index;               // "https://download.pytorch.org/whl": all addresses below it
  std::vector<std::string> has;    // packages that it lists
  std::vector<std::string> lacks;  // some that people look for there; of others nothing is known
};

// A package whose wheels for Linux all want glibc, and of which there is no source archive.
struct GlibcWheels : Source {
  std::string package;
};

// Two requirements that cannot both hold in one environment.
struct Clash : Source {
  std::string first;  // PEP 508: "torchaudio>=2.9"
  std::string second;
  std::string text;
  std::string error;  // of errors.json; empty: none
};

// A wheel of llama-cpp-python's own index, or that there is none.
struct LlamaWheels : Source {
  std::string cuda;  // "cu124"
  bool exists = false;
  SpecifierSet python;
  std::vector<std::string> needs;  // libraries that no requirement brings
};

// What a model takes of a card's memory while it computes.
struct ModelMemory : Source {
  std::string name;     // "whisper large-v3"
  std::string storage;  // of its weights: "float16", "int8"; "pytorch": as that loads it
  std::string engine;   // that was measured
  uint64_t least_mib = 0;
  uint64_t most_mib = 0;
  std::string note;
};

// A library of CUDA, by its names.
struct Library : Source {
  std::string name;    // "cublas"
  int cuda_major = 0;  // 0: of any, as cuDNN is
  std::string soname;  // "libcublas.so.12"
  std::string dll;     // empty: not known
  std::string wheel;   // that brings it: "nvidia-cublas-cu12"; empty: not known
  std::string folder;  // below site-packages: "nvidia/cublas/lib"
  std::string note;
};

// Libraries that another opens by name once it runs.
struct Opener : Source {
  std::string library;  // soname
  std::vector<std::string> opens;
};

// A system that images are made of.
struct ImageSystem : Source {
  std::string name;      // "debian"
  std::string version;   // "12"; empty: any
  std::string codename;  // "bookworm"; empty: none
  std::string glibc;     // "2.36"; empty: its C library is another one (musl)
  std::string python;    // of its own package python3: "3.11"; empty: not known
  bool managed = false;  // pip may not install into that one (PEP 668)
};

// What a word of NVIDIA_DRIVER_CAPABILITIES brings into a container.
struct Capability : Source {
  std::string name;
  std::vector<std::string> libraries;
};

// A known error, as logs show it. What {name} stands for is explained in patterns.h.
struct KnownError : Source {
  std::string id;  // "E01"
  std::string title;
  std::vector<std::string> patterns;  // any of them
  std::string cause;
  std::string predictor;             // what would have foretold it
  std::vector<Remedy> remedies;      // with {name} of what a pattern took
  std::vector<std::string> follows;  // errors that it comes after: their consequence
  std::string instead_of;            // the error whose words mean this one, `beside` any of these
  std::vector<std::string> beside;
  std::vector<std::string> seen;  // "SYSTRAN/faster-whisper#885"
  bool harmless = false;
};

// A text of the knowledge base.
struct KnowledgeFile {
  std::string name;  // "cards.json"
  std::string_view text;
};

// What kind of files these are; one of another number is not read.
inline constexpr int kKnowledgeFormat = 1;

struct Knowledge {
  std::string date;  // of the newest file, "2026-11-24"

  std::vector<Architecture> architectures;
  std::vector<Product> products;
  std::vector<DriverBranch> branches;  // ascending
  std::vector<PtxVersion> ptx_versions;
  std::vector<DriverFloor> floors;
  std::vector<CudaToolkit> toolkits;  // ascending
  std::vector<TorchRelease> torch;    // ascending
  std::vector<OnnxRuntimeRelease> onnxruntime;
  std::vector<CTranslate2Release> ctranslate2;
  std::vector<WheelCode> wheels;
  std::vector<PackageNeeds> packages;
  std::vector<PackageReleases> releases;
  std::vector<PackageIndex> indexes;
  std::vector<Clash> clashes;
  std::vector<GlibcWheels> glibc_wheels;
  std::vector<LlamaWheels> llama_wheels;
  std::vector<ModelMemory> models;
  std::vector<Library> libraries;
  std::vector<Opener> openers;
  std::vector<Capability> capabilities;
  std::vector<ImageSystem> systems;
  std::vector<KnownError> errors;
  std::vector<Note> notes;

  // Made of the facts when they are read: positions in `products` by the words of a name, and in
  // `packages` of what asks for a package, by its normal name.
  std::map<std::string, size_t, std::less<>> products_by_words;
  std::map<std::string, std::vector<size_t>, std::less<>> packages_by_need;

  // Reads the files of src/doctor/knowledge, of which each must be there. What is wrong is said
  // with its file and path: "torch.json: releases[3].torch: wanted text, found number".
  [[nodiscard]] static Result<Knowledge> parse(std::span<const KnowledgeFile> files);

  // Reads one file that holds all (tools/knowledge_bundle.py). `file` names it in messages.
  [[nodiscard]] static Result<Knowledge> parse_bundle(std::string_view text,
                                                      const std::string& file);

  // Fills products_by_words and packages_by_need.
  void index_facts();

  // Every look-up answers nullptr where nothing is known.

  // A card by what the driver, a shop or a user calls it: "NVIDIA GeForce RTX 5090 Laptop GPU",
  // "rtx 5090", "NVIDIA A100-SXM4-80GB".
  [[nodiscard]] const Product* card(std::string_view name) const;
  [[nodiscard]] const Architecture* architecture(std::string_view compute_capability) const;
  // The newest branch that is not above that of a driver: "580.95.05".
  [[nodiscard]] const DriverBranch* branch(std::string_view driver) const;
  [[nodiscard]] const PtxVersion* ptx(std::string_view isa) const;
  [[nodiscard]] const DriverFloor* floor(const Version& cuda) const;
  // "12.8.1"; of a version that is not listed, the newest listed one of the same two numbers.
  [[nodiscard]] const CudaToolkit* toolkit(std::string_view cuda) const;
  [[nodiscard]] const TorchRelease* torch_release(const Version& torch) const;
  // Of "2.7.1+cu126"; without a local part, that of the Python index for Linux (for Windows it has
  // wheels without CUDA).
  [[nodiscard]] const TorchVariant* torch_variant(const Version& torch) const;
  [[nodiscard]] const OnnxRuntimeRelease* onnxruntime_release(const Version& version) const;
  [[nodiscard]] const CTranslate2Release* ctranslate2_release(const Version& version) const;
  [[nodiscard]] const PackageNeeds* package(std::string_view name, const Version& version) const;
  // Entries that ask for a package, under whatever conditions, in their order.
  [[nodiscard]] std::vector<const PackageNeeds*> asking_for(std::string_view package) const;
  [[nodiscard]] const PackageReleases* releases_of(std::string_view package) const;
  // Of a version's public part.
  [[nodiscard]] Listing listing_of(std::string_view package, const Version& version) const;
  [[nodiscard]] const WheelCode* wheel(std::string_view package, const Version& version,
                                       System system) const;
  // A model by its name and storage; an empty storage takes the first that is listed.
  [[nodiscard]] const ModelMemory* model(std::string_view name, std::string_view storage) const;
  // Of a soname or DLL name, capitals or not. Several where CUDA versions share a name, as they do
  // libcusparse.so.12.
  [[nodiscard]] std::vector<const Library*> libraries_named(std::string_view file) const;
  [[nodiscard]] const Library* library(std::string_view name, int cuda_major) const;
  [[nodiscard]] const Opener* opener(std::string_view soname) const;
  [[nodiscard]] const KnownError* error(std::string_view id) const;
  [[nodiscard]] const Note* note(std::string_view id) const;
};

// That of the program itself, read at its first use. A program whose own files cannot be read is a
// defect, and stops.
[[nodiscard]] const Knowledge& builtin_knowledge();

// A newer knowledge base: refused where it cannot be read, is of another format, or is not newer
// than `present`.
[[nodiscard]] Result<Knowledge> newer_knowledge(const Knowledge& present, std::string_view text,
                                                const std::string& file);

}  // namespace mynah::doctor
