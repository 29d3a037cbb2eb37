// Facts: all that the doctor's rules look at. They are gathered from a machine (gather.h), or read
// from a file that describes another one (facts_json.h, --as), and say where each was read, so that
// a finding can show it. Nothing here is a judgement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::doctor {

// Whose loader and whose paths a tree follows.
enum class System : uint8_t { Linux, Windows };

// A display or compute card, of whatever maker.
struct Card {
  std::string name;                    // "NVIDIA GeForce RTX 5090"; empty: not known
  std::string compute_capability;      // "12.0"; empty: not NVIDIA's, or not known
  std::optional<uint64_t> memory_mib;  // in all
  std::string pci;                     // "0000:01:00.0"
  std::string vendor;                  // PCI vendor in hexadecimal: "10de" is NVIDIA
  std::string kernel_driver;           // "nvidia", "nouveau", "vfio-pci"; empty: none
  std::string uuid;                    // "GPU-8932f937-..."; empty: not known
  bool slice = false;                  // a slice of a card (Multi-Instance GPU)
  bool divided = false;                // Multi-Instance GPU is on: its slices alone can be used

  bool operator==(const Card&) const = default;
};

// A node of /dev, and what opening it answers: "usable", "missing", "no permission", "denied",
// "failed".
struct Node {
  std::string path;
  std::string state;
  std::string group;  // that owns it: "video", "render"

  bool operator==(const Node&) const = default;
};

// The container that the doctor runs in, or that a recipe makes.
struct Container {
  bool inside = false;                // of one, now
  std::vector<std::string> runtimes;  // that Docker's daemon.json names: "nvidia"
  std::optional<bool> toolkit;        // nvidia-container-toolkit or nvidia-ctk is installed
  std::optional<bool> cdi;            // a CDI specification names cards
  bool docker = false;                // a docker program is installed
  bool docker_snap = false;           // as a snap, whose confinement hides the driver

  // Whether Docker can give out NVIDIA's cards; none: nobody looked, or said. A snap may bring a
  // toolkit of its own, which is not looked for.
  [[nodiscard]] std::optional<bool> gives_cards() const {
    if (toolkit.value_or(false) || cdi.value_or(false) ||
        std::ranges::find(runtimes, "nvidia") != runtimes.end()) {
      return true;
    }
    return toolkit && !docker_snap ? std::optional(false) : std::nullopt;
  }

  bool operator==(const Container&) const = default;
};

// What is below or above every framework.
struct Machine {
  System system = System::Linux;
  std::string name;                          // of the host
  std::string release;                       // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;                        // "6.1.0-18-amd64"
  std::string glibc;                         // "2.36"; empty: not known, or Windows
  std::vector<std::string> processor_flags;  // as /proc/cpuinfo names them: "avx512f"
  std::vector<Card> cards;
  std::string driver;                 // of NVIDIA's in the kernel: "580.95.05"
  bool open_kernel_module = false;    // NVIDIA's open one, which RTX 50 needs
  bool closed_kernel_module = false;  // NVIDIA's closed one; neither: not known
  // Real paths of libcuda.so.*, the user half. The first is what the loader gives for libcuda.so.1,
  // which may be one of compat_libraries or a stub; where it gives none, the first is empty.
  std::vector<std::string> driver_libraries;
  // The loader's cache and the driver's usual folders were looked through, and there is none.
  bool no_driver_library = false;
  std::vector<std::string> compat_libraries;  // libcuda.so.* of a toolkit's compat folder
  std::vector<Node> nodes;
  std::vector<std::string> groups;  // that the user is in
  bool wsl = false;
  std::vector<std::string> mig_instances;
  Container container;
  std::map<std::string, std::string> variables;  // those that decide about cards and libraries
  std::vector<std::string> kernel_log;           // lines of NVRM and Xid; empty: none, or no right
  bool kernel_log_unread = false;                // nothing of it may be read but a binary journal
  std::optional<bool> slept;                     // since it was started
  std::optional<bool> keeps_memory_asleep;       // NVreg_PreserveVideoMemoryAllocations
  std::vector<std::string> library_folders;      // that the loader's cache names, in its order
  // Libraries of CUDA and cuDNN in the folders of LD_LIBRARY_PATH, real paths in its order.
  std::vector<std::string> path_libraries;
  std::vector<std::string> cache_libraries;  // the same that the loader's cache names

  bool operator==(const Machine&) const = default;
};

// One image for one architecture, inside a fat binary.
struct DeviceImage {
  bool ptx = false;         // else machine code (SASS)
  int architecture = 0;     // 75 of sm_75
  std::string variant;      // "a": this architecture alone; "f": its family; else empty
  std::string ptx_version;  // "8.7" of the PTX language; empty: machine code
  bool zstd = false;        // compressed so that drivers before R550 cannot read it

  bool operator==(const DeviceImage&) const = default;
};

// Translation units of a file that hold the same images.
struct DeviceUnits {
  uint64_t count = 0;
  std::vector<DeviceImage> images;

  bool operator==(const DeviceUnits&) const = default;
};

// The device code of a file.
struct DeviceCode {
  std::string file;
  std::vector<DeviceUnits> units;

  bool operator==(const DeviceCode&) const = default;
};

// How a library comes to be wanted.
enum class Want : uint8_t {
  Needed,    // DT_NEEDED, or a DLL's import table: before any code runs
  Opened,    // by name at run time (dlopen, LoadLibrary)
  Provided,  // opened beforehand by the package's own Python code
};

// A library that a file wants, and what the loader would give it.
struct LibraryWant {
  std::string library;  // "libcublas.so.12"
  Want want = Want::Needed;
  std::string by;     // the file that wants it
  std::string found;  // the real path; empty: the loader finds none
  // How it was found: "RPATH", "LD_LIBRARY_PATH", "RUNPATH", "cache", "default folder", "loaded by
  // torch/__init__.py" (Python code that opens it beforehand); on Windows "its folder",
  // "add_dll_directory", "System32", "PATH". Where nothing is found, "loaded by torch" says that it
  // is there once torch was imported first, and `elsewhere` begins with that path.
  std::string via;
  // Where it lies on this machine without being on the loader's way; empty: nowhere seen.
  std::vector<std::string> elsewhere;
  // A path of `by` that leads into a machine that built it, or the current directory.
  std::string dead_path;
  // Versions and symbols that `by` needs of it and `found` does not have: the loader refuses it.
  std::vector<std::string> lacks;
  // Opened: nothing but a text inside of `by` says so, and it may never be opened.
  bool guessed = false;

  bool operator==(const LibraryWant&) const = default;
};

// A package as its metadata tell, names as PEP 503 normalises them.
struct Package {
  std::string name;                    // "onnxruntime-gpu"
  std::string version;                 // "2.7.1+cu126": with the local part, where one is known
  std::string folder;                  // site-packages that it is in
  std::vector<std::string> requires_;  // PEP 508, as written; of conda's packages as conda writes
  std::vector<std::string> extras;     // that it offers
  std::string python;                  // Requires-Python: ">=3.9"; empty: any
  std::vector<std::string> tags;       // "cp311-cp311-manylinux_2_28_x86_64"
  std::string installer;               // "pip", "uv", "conda"
  std::string origin;                  // the URL of direct_url.json; empty: an index

  bool operator==(const Package&) const = default;
};

// One path that several packages say is theirs.
struct SharedPath {
  std::string path;
  std::vector<std::string> owners;  // packages
  std::string winner;               // whose content is there; empty: nobody's, or not known
  uint64_t others = 0;              // further paths of the same owners

  bool operator==(const SharedPath&) const = default;
};

// In Framework::unverified: its metadata are installed, and nothing is in `folder`.
inline constexpr std::string_view kNoFiles = "files";

// In Framework::unverified: libraries that it lacks were looked for on another machine.
inline constexpr std::string_view kOtherLoader = "loader";

// A framework that computes on cards, as its own files show it.
struct Framework {
  std::string name;     // "torch", "onnxruntime", "ctranslate2", "llama-cpp-python", ...
  std::string package;  // that brought it: "onnxruntime-gpu"
  std::string version;  // "2.7.1+cu126"
  std::optional<std::string> cuda;  // built with: "12.6"; "": the processor alone; none: not known
  std::string cudnn;                // built with: "9.10.2"; empty: none or not known
  std::string hip;                  // built for AMD's cards with this version; empty: not
  std::string folder;
  std::vector<DeviceCode> code;
  std::vector<LibraryWant> wants;
  std::vector<std::string> cpu_features;  // beyond x86-64-v3 that its processor code must have
  // Empty: all this was read in its own files. Else where the knowledge base has it from, and then
  // nobody asked the loader: what `wants` names may be there or not (known_framework.h).
  std::string source;
  // Which of that nobody verified: "code", "compression", "ptx", "cudnn", "libraries"; kNoFiles,
  // kOtherLoader.
  std::vector<std::string> unverified;

  bool operator==(const Framework&) const = default;
};

// PythonEnvironment::kind of what a recipe installs, where that recipe is among the facts, too.
inline constexpr std::string_view kOfRecipe = "recipe";

struct PythonEnvironment {
  std::string path;  // its prefix
  std::string kind;  // "venv", "conda", "system", "user", "uv", "poetry", "pipx", "folder", "wheel"
  std::string python;  // "3.11"; empty: not known
  System system = System::Linux;
  std::vector<Package> packages;
  std::vector<SharedPath> shared_paths;
  std::vector<Framework> frameworks;

  bool operator==(const PythonEnvironment&) const = default;
};

// A requirement as somebody wrote it down.
struct Requirement {
  std::string name;  // normalised
  std::vector<std::string> extras;
  std::string specifier;  // ">=2.4,<3"; empty: any
  std::string marker;     // behind ';'
  std::string url;        // behind '@'
  std::string file;       // that it stands in
  uint64_t line = 0;      // from 1; 0: not known
  uint64_t command = 0;   // the line at which its command begins; 0: `line`
  bool locked = false;    // of a lock file: what will be installed, whatever is newer
  // Addresses of the indexes that its own command or table names; empty: those of the recipe.
  std::vector<std::string> indexes;
  bool replaces_index = false;        // those stand in place of the Python index: --index-url
  std::vector<uint64_t> index_lines;  // where each of them stands; none: not known
  std::string group;   // an extra or a group of dependencies that must be asked for; empty: none
  bool bound = false;  // it bounds what others ask for, and brings nothing
  bool overrides = false;  // it stands in place of whatever else is said of the package
  bool literal = true;     // false: `line` does not hold it as it is, a variable may
  uint64_t step = 0;       // of its recipe's steps, from 1; 0: of none
  // What stands behind it on its line of a requirements file, and pip reads and passes over:
  // "--index-url ...", with a marker behind that; or a ";" with no marker.
  std::string passed_over;
  bool hashed = false;  // its line has hashes, which are of the version that stands there

  [[nodiscard]] uint64_t command_line() const { return command != 0 ? command : line; }

  bool operator==(const Requirement&) const = default;
};

// Where packages come from.
struct IndexLine {
  std::string url;
  bool extra = false;        // beside the first
  bool explicit_ = false;    // for packages that name it alone (uv, Poetry)
  bool one_command = false;  // of a command of an image, for the files that it reads
  std::string file;
  uint64_t line = 0;

  bool operator==(const IndexLine&) const = default;
};

// FROM of a Dockerfile.
struct BaseImage {
  std::string image;     // "nvidia/cuda"
  std::string tag;       // "12.9.1-cudnn-runtime-ubuntu22.04"
  std::string stage;     // AS; empty: none
  std::string platform;  // --platform: "linux/arm64"; empty: that of the machine
  uint64_t line = 0;
  bool literal = true;  // false: `line` does not hold it as it is, but a variable or a digest

  bool operator==(const BaseImage&) const = default;
};

// What Docker Compose does not take of how a service reserves devices.
struct DeviceFault {
  std::string what;  // "no capabilities", "a driver and no capabilities", "count and device_ids"
  uint64_t line = 0;

  bool operator==(const DeviceFault&) const = default;
};

// A service of another file that one extends, until that file was read.
struct ExtendedService {
  std::string file;  // empty: none
  std::string service;

  bool operator==(const ExtendedService&) const = default;
};

// A service of a compose file, or the one that a Dockerfile or a requirements file stands for.
struct Service {
  std::string name;
  std::string image;                             // empty: built
  std::string build;                             // the Dockerfile; empty: none
  std::string target;                            // the stage of it; empty: the last
  std::map<std::string, std::string> arguments;  // that it is built with
  std::string platform;                          // "linux/arm64"; empty: that of the machine
  std::optional<bool> card;  // whether cards are reserved for it; none: nothing says
  std::string runtime;       // that alone gives it cards: "nvidia"; empty: none, or not it alone
  std::vector<DeviceFault> device_faults;
  std::vector<std::string> card_ids;   // of cards that it reserves by them: "1", "GPU-8f..."
  std::optional<uint64_t> card_count;  // cards that it reserves; none: all, or it is not known
  uint64_t cards_line = 0;             // where both stand
  std::map<std::string, std::string> variables;
  std::map<std::string, uint64_t> variable_lines;  // where they stand; left out: not known
  ExtendedService extends;
  uint64_t line = 0;

  bool operator==(const Service&) const = default;
};

// Where a recipe names a file that it takes in.
struct IncludeLine {
  std::string path;  // as in its includes or constraints
  uint64_t line = 0;
  uint64_t step = 0;    // of the recipe's steps, from 1; 0: of none
  bool edited = false;  // by commands of an image: what it then asks for is not known
  // A lock that its command makes of this project where there is none: "pyproject.toml" beside it.
  std::string made_of = {};

  bool operator==(const IncludeLine&) const = default;
};

// A command of an image that installs packages or removes them. Steps follow each other.
struct InstallStep {
  uint64_t line = 0;        // at which its instruction begins
  std::string environment;  // that it installs into, "/opt/venv"; empty: the image's own
  bool doubtful = false;    // it may run or not, or fail without ending the build
  bool renews = false;      // what is there already, too: --upgrade, --force-reinstall
  bool aside = false;       // of a stage that is built, and whose packages are not in the image
  bool unknown = false;     // what it installs is not known, or not all of it
  bool alone = false;       // without what its packages ask for: --no-deps
  bool managed = false;     // into a Python that the system may keep pip out of (PEP 668)
  bool uv = false;          // uv installs: there may be no pip
  bool legacy = false;      // pip is told to resolve as before 20.3, which refuses next to nothing
  bool found = false;       // uv makes its environment, with the first Python that it finds
  bool joined = false;      // what it compiles sees what is installed: --no-build-isolation
  uint64_t image = 0;       // line of the FROM whose Python its environment runs; 0: not known
  std::string python;       // that its environment runs, where commands name it: "3.12"
  std::vector<std::string> removes;  // packages

  bool operator==(const InstallStep&) const = default;
};

// A command of an image that compiles device code for architectures that it names.
struct DeviceBuild {
  std::string command;
  uint64_t line = 0;                       // at which its instruction begins
  uint64_t image = 0;                      // line of the FROM whose compiler it takes
  std::vector<std::string> architectures;  // as CMake has them: "86", "120a-real"
  bool doubtful = false;                   // it may run or not

  bool operator==(const DeviceBuild&) const = default;
};

// A file from which an environment or an image is made.
struct Recipe {
  std::string path;
  std::string target;  // of a Dockerfile: the stage that it is read for; empty: the last
  std::map<std::string, std::string> arguments;  // and the build arguments, but for defaults
  // "requirements", "pyproject", "lock", "conda", "dockerfile", "compose", "python version"
  std::string kind;
  std::string python;  // wanted: ">=3.10,<3.13"
  std::vector<Requirement> requirements;
  std::vector<InstallStep> steps;  // of a Dockerfile
  std::vector<IndexLine> indexes;
  std::vector<BaseImage> images;  // of the stages that are built; the last is the target's
  std::vector<Service> services;
  std::vector<std::string> includes;  // recipes that it takes in: -r, COPY of a requirements file
  std::vector<std::string> constraints;  // recipes that bound versions and bring nothing: -c
  // Of both; a line that is not known is left out.
  std::vector<IncludeLine> include_lines;
  // Extras and groups that its lines install of the projects that it takes in: "gpu"; "*": all.
  std::vector<std::string> groups;
  std::map<std::string, std::string> variables;  // ENV and ARG
  std::vector<std::string> system_packages;      // of apt: "libcudnn9-cuda-12"
  std::vector<std::string> builds;               // commands that compile device code, as written
  std::vector<DeviceBuild> device_builds;        // those that say what for
  std::vector<std::string> doubts;               // what could not be read for sure

  bool operator==(const Recipe&) const = default;
};

// A CUDA toolkit for building.
struct Toolkit {
  std::string path;
  System system = System::Linux;
  std::string version;                  // "12.1"
  std::map<std::string, bool> headers;  // "nv/target": whether it is there
  std::string cub_version;              // "2.0.1"; empty: not known
  int gcc_most = 0;                     // of host_config.h; 0: not known
  int clang_most = 0;
  int msvc_least = 0;  // _MSC_VER
  int msvc_most = 0;
  std::string host_compiler;                 // that would be used: "gcc 12.2.0", "_MSC_VER 1944"
  std::vector<std::string> other_compilers;  // that are installed besides: "gcc 11"
  bool on_path = false;                      // its nvcc is the first on PATH
  bool named = false;                        // CUDA_HOME or CUDA_PATH names it
  std::optional<bool> visual_studio;         // integrated with it; none: Linux, or none was seen

  bool operator==(const Toolkit&) const = default;
};

// A model that is to stay on a card, beside the others of the list.
struct WantedModel {
  std::string name;                   // "whisper large-v3", as knowledge/models.json has it
  std::string storage;                // "float16", "int8"; empty: any
  std::optional<uint64_t> least_mib;  // of the card's memory; none: as the knowledge base has it
  std::optional<uint64_t> most_mib;

  bool operator==(const WantedModel&) const = default;
};

struct Facts {
  Machine machine;
  std::vector<PythonEnvironment> environments;
  std::vector<Recipe> recipes;
  std::vector<Toolkit> toolkits;
  std::vector<WantedModel> wanted;
  std::optional<uint64_t> headroom_mib;  // that is to stay free beside them
  std::vector<std::string> skipped;      // what was not looked at, and why

  bool operator==(const Facts&) const = default;
};

}  // namespace mynah::doctor
