#include "doctor/reports/redact.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/fact_fields.h"
#include "doctor/knowledge/knowledge_files.h"

namespace mynah::doctor {

namespace {

// Accounts that systems and images come with.
constexpr std::array<std::string_view, 7> kNobodysUsers = {"root",   "ubuntu", "debian", "admin",
                                                           "runner", "user",   "nobody"};

// Names that folders and files have everywhere.
constexpr std::array<std::string_view, 75> kPublicNames = {
    // systems
    "usr", "local", "lib", "lib32", "lib64", "bin", "sbin", "share", "include", "etc", "opt", "var",
    "run", "tmp", "home", "root", "mnt", "media", "x86_64-linux-gnu", "aarch64-linux-gnu",
    "ld.so.cache", "ld.so.conf.d", "Windows", "System32", "Users", "Program Files", "AppData",
    "Local", "Programs", "Roaming", "Python", "Scripts", "Lib", "snap", "docker", "daemon.json",
    "modprobe.d", "wsl", "drivers", "cdi",
    // NVIDIA's
    "cuda", "targets", "x86_64-linux", "stubs", "compat", "nvidia", "nvcc", "nvcc.exe",
    "NVIDIA GPU Computing Toolkit", "CUDA",
    // Python's
    "python", "python3", "python.exe", "pip", "uv", "conda", "mamba", ".venv", "venv", "env",
    ".local", ".cache", ".conda", "envs", "pkgs", "conda-meta", "anaconda3", "miniconda3",
    "miniforge3",
    // recipes
    "requirements.txt", "pyproject.toml", "environment.yml", "Dockerfile", "docker-compose.yml",
    "compose.yaml"};

// Below these, names are the system's or a package's own.
constexpr std::array<std::string_view, 2> kPackageFolders = {"site-packages", "dist-packages"};
constexpr std::array<std::string_view, 3> kKernelRoots = {"/proc/", "/sys/", "/dev/"};

// Words in the names of variables whose values are secrets.
constexpr std::array<std::string_view, 6> kSecrets = {"key",    "token",    "secret",
                                                      "passwd", "password", "credential"};

bool is_word(char c) {
  return is_digit(c) || is_small_letter(small_letter(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_secret(std::string_view variable) {
  const std::string name = small_letters(variable);
  return std::ranges::any_of(
      kSecrets, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

bool is_separator(char c) {
  return c == '/' || c == '\\';
}

// What cannot be within a path that a text shows.
bool ends_path(char c) {
  constexpr std::string_view kEnds = " \t\r\n'\"`:;,<>|()[]{}*?";
  return kEnds.find(c) != std::string_view::npos;
}

bool has_drive(std::string_view text) {
  return text.size() >= 3 && is_small_letter(small_letter(text[0])) && text[1] == ':' &&
         is_separator(text[2]);
}

bool is_absolute(std::string_view text) {
  return text.starts_with('/') || text.starts_with("\\\\") || has_drive(text);
}

// "libcudart.so.12", "cudart64_12.dll", "_C.cpython-311-x86_64-linux-gnu.so".
bool is_library(std::string_view name) {
  const std::string small = small_letters(name);
  return small.ends_with(".so") || small.find(".so.") != std::string::npos ||
         small.ends_with(".dll") || small.ends_with(".pyd");
}

// "python3.11", "cuda-12.8", "v12.1", "lib64": a public name with a version behind it.
bool is_versioned(std::string_view name) {
  constexpr std::array<std::string_view, 5> kHeads = {"python", "cuda-", "v", "Python", "gcc-"};
  return std::ranges::any_of(kHeads, [&](std::string_view head) {
    return name.starts_with(head) && name.size() > head.size() &&
           name.find_first_not_of("0123456789.", head.size()) == std::string_view::npos;
  });
}

bool is_public(std::string_view name) {
  return name.empty() || name == "." || name == ".." || name == "~" || is_library(name) ||
         is_versioned(name) || std::ranges::find(kPublicNames, name) != kPublicNames.end();
}

// The letters and digits of a file's ending, with its point: ".txt"; empty: none.
std::string_view ending_of(std::string_view name) {
  constexpr size_t kLongest = 6;
  const size_t point = name.rfind('.');
  if (point == std::string_view::npos || point == 0 || name.size() - point > kLongest + 1 ||
      point + 1 == name.size() || !std::ranges::all_of(name.substr(point + 1), is_word)) {
    return {};
  }
  return name.substr(point);
}

// Whether a path may begin behind this text: at its end is no word, or an option's letter
// ("-L/opt") or a variable ("$HOME/models").
bool may_precede_path(std::string_view text) {
  size_t word = text.size();
  while (word > 0 && is_word(text[word - 1])) {
    --word;
  }
  if (word == text.size()) {
    return text.empty() || !is_separator(text.back());
  }
  const char before = word == 0 ? ' ' : text[word - 1];
  return before == '$' || (before == '-' && text.size() - word == 1);
}

// Calls visit(field, text) for every text of a fact.
template <class Visit>
void each_text(const std::string& name, std::string& text, const Visit& visit) {
  visit(name, text);
}

template <class T, class Visit>
void each_text(const std::string& /*name*/, T& /*number*/, const Visit& /*visit*/) {}

template <Struct T, class Visit>
void each_text(const std::string& name, T& fact, const Visit& visit);

template <class T, class Visit>
void each_text(const std::string& name, std::vector<T>& values, const Visit& visit) {
  for (T& value : values) {
    each_text(name, value, visit);
  }
}

template <class Visit>
void each_text(const std::string& /*name*/, std::map<std::string, std::string>& values,
               const Visit& visit) {
  for (auto& [name, value] : values) {
    visit(name, value);
  }
}

template <Struct T, class Visit>
void each_text(const std::string& /*name*/, T& fact, const Visit& visit) {
  fields_of(fact,
            [&](const char* field, auto& member) { each_text(std::string(field), member, visit); });
}

// Hosts that the knowledge base names: public ones.
const std::set<std::string, std::less<>>& public_hosts() {
  static const std::set<std::string, std::less<>> hosts = [] {
    std::set<std::string, std::less<>> found;
    for (const KnowledgeFile& file : builtin_files()) {
      constexpr std::string_view kMark = "://";
      for (size_t at = file.text.find(kMark); at != std::string_view::npos;
           at = file.text.find(kMark, at)) {
        at += kMark.size();
        const size_t end = file.text.find_first_of("/\"' \\),;:#?", at);
        found.emplace(file.text.substr(at, end - at));
      }
    }
    return found;
  }();
  return hosts;
}

// The host of an image that no public registry has ("registry.acme.example/team/asr"); empty: it is
// public, or names none. What an image's name says first is a host where it has a point or a port
// (the Distribution project's reference grammar).
std::string_view private_registry(std::string_view image) {
  constexpr std::array<std::string_view, 9> kPublicRegistries = {
      "docker.io", "index.docker.io", "ghcr.io",           "nvcr.io",        "quay.io",
      "gcr.io",    "public.ecr.aws",  "mcr.microsoft.com", "registry.k8s.io"};
  const size_t slash = image.find('/');
  const std::string_view host = image.substr(0, slash);
  const bool named = slash != image.npos && host.find_first_of(".:") != host.npos;
  const bool known = std::ranges::find(kPublicRegistries, host) != kPublicRegistries.end();
  return named && !known ? host.substr(0, host.find(':')) : std::string_view();
}

}  // namespace

Redactor::Redactor(const Facts& facts, const std::string& user, const std::string& host) {
  learn_user(user);
  for (const std::string& name : {host, facts.machine.name}) {
    if (!name.empty() && name != "localhost") {
      names_.emplace(name, "HOST");
      names_.emplace(name.substr(0, name.find('.')), "HOST");
    }
  }
  for (const char* name : {"USER", "LOGNAME", "USERNAME"}) {
    if (const auto found = facts.machine.variables.find(name);
        found != facts.machine.variables.end()) {
      learn_user(found->second);
    }
  }
  const auto learn_image = [&](std::string_view image) {
    if (const std::string_view registry = private_registry(image); !registry.empty()) {
      names_.emplace(registry, "REGISTRY");
    }
  };
  for (const Recipe& recipe : facts.recipes) {
    std::ranges::for_each(recipe.images, learn_image, &BaseImage::image);
    std::ranges::for_each(recipe.services, learn_image, &Service::image);
  }
  // each_text serves what changes texts, too.
  Facts copy = facts;
  constexpr std::array<std::string_view, 9> kPathFields = {
      "path", "file", "folder", "by", "found", "elsewhere", "dead_path", "build", "includes"};
  each_text("", copy, [&](const std::string& field, const std::string& text) {
    if (std::ranges::find(kPathFields, field) != kPathFields.end() || field == "HOME") {
      learn_path(text);
    }
  });
  // Names that are written down relative to where the doctor was called.
  const auto learn_relative = [&](const std::string& path) {
    if (!path.empty() && !is_absolute(path) && !is_public(path)) {
      known_paths_.push_back(path);
    }
  };
  for (const Recipe& recipe : facts.recipes) {
    learn_relative(recipe.path);
    std::ranges::for_each(recipe.includes, learn_relative);
    for (const Service& service : recipe.services) {
      learn_relative(service.build);
    }
  }
  for (const PythonEnvironment& environment : facts.environments) {
    learn_relative(environment.path);
  }
  std::ranges::sort(known_paths_, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  const auto doubles = std::ranges::unique(known_paths_);
  known_paths_.erase(doubles.begin(), doubles.end());
}

void Redactor::learn_user(const std::string& name) {
  if (!name.empty() && !is_public(name) &&
      std::ranges::find(kNobodysUsers, name) == kNobodysUsers.end()) {
    names_.emplace(name, "USER");
  }
}

void Redactor::learn_path(const std::string& path) {
  if (!is_absolute(path)) {
    return;
  }
  for (const std::string_view homes : {"/home/", "/Users/", "\\Users\\"}) {
    if (const size_t at = path.find(homes); at == 0 || (at == 2 && has_drive(path))) {
      const size_t begin = at + homes.size();
      const size_t end = std::min(path.find_first_of("/\\", begin), path.size());
      learn_user(path.substr(begin, end - begin));
    }
  }
  // It and the folders that it is in, as long as there are blanks in them.
  for (std::string part = path; part.find(' ') != std::string::npos;) {
    known_paths_.push_back(part);
    part.resize(part.find_last_of("/\\"));
  }
}

void Redactor::redact(Facts& facts) {
  each_text("", facts, [&](const std::string& field, std::string& text) {
    text = is_secret(field) ? "redacted" : redacted(text);
  });
}

void Redactor::redact(Report& report) {
  const auto change = [&](auto&... texts) { ((texts = redacted(texts)), ...); };
  for (FrameworkVerdict& verdict : report.verdicts) {
    change(verdict.environment, verdict.card, verdict.reason);
  }
  for (Finding& finding : report.findings) {
    change(finding.subject, finding.card, finding.text, finding.error);
    for (Evidence& evidence : finding.evidence) {
      change(evidence.text, evidence.where);
    }
    for (Remedy& remedy : finding.remedies) {
      change(remedy.command, remedy.text, remedy.cost);
      for (RemedyStep& step : remedy.steps) {
        change(step.command, step.text);
      }
    }
  }
  for (MemoryPlan& plan : report.plans) {
    change(plan.card);
    for (PlannedModel& model : plan.models) {
      change(model.model, model.source);
    }
  }
}

void Redactor::redact(Alignment& alignment) {
  const auto change = [&](auto&... texts) { ((texts = redacted(texts)), ...); };
  for (AlignmentColumn& column : alignment.columns) {
    change(column.name, column.path);
  }
  for (AlignmentRow& row : alignment.rows) {
    change(row.why);
    for (AlignmentCell& cell : row.cells) {
      change(cell.written, cell.where);
    }
  }
  for (AlignmentEdit& edit : alignment.edits) {
    change(edit.file, edit.from, edit.to, edit.why);
  }
  for (AlignmentDriver& driver : alignment.drivers) {
    change(driver.column, driver.why);
  }
}

std::string Redactor::redacted(std::string_view text) {
  std::string result;
  std::string plain;  // since the last path or address
  const auto take_plain = [&] {
    result += without_names(plain);
    plain.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const bool begins = may_precede_path(text.substr(0, at));
    const std::string_view rest = text.substr(at);
    if (const size_t known = begins ? known_path_at(text, at) : 0; known > 0) {
      take_plain();
      result += redacted_path(rest.substr(0, known));
      at += known;
      continue;
    }
    if (rest.starts_with("://")) {
      const size_t end = std::min(rest.find_first_of(" \t\r\n'\"`<>|,;)"), rest.size());
      // The scheme stays in front of it.
      take_plain();
      result += redacted_address(rest.substr(0, end));
      at += end;
      continue;
    }
    const bool dots = rest.starts_with("./") || rest.starts_with("../") || rest.starts_with("~/");
    const bool after_dot = at > 0 && text[at - 1] == '.';
    if (begins && !after_dot && (is_absolute(rest) || dots)) {
      const size_t drive = has_drive(rest) ? 2 : 0;
      size_t end = drive;
      while (end < rest.size() && !ends_path(rest[end])) {
        ++end;
      }
      while (end > drive + 1 && rest[end - 1] == '.') {
        --end;  // of the sentence
      }
      take_plain();
      result += redacted_path(rest.substr(0, end));
      at += end;
      continue;
    }
    if (rest.front() == '=' && !plain.empty()) {
      size_t word = plain.size();
      while (word > 0 && is_word(plain[word - 1])) {
        --word;
      }
      if (is_secret(std::string_view(plain).substr(word)) && !rest.starts_with("==")) {
        plain += "=redacted";
        at += std::min(rest.find_first_of(" \t\r\n'\"`;,", 1), rest.size());
        continue;
      }
    }
    plain += rest.front();
    ++at;
  }
  take_plain();
  return result;
}

size_t Redactor::known_path_at(std::string_view text, size_t at) const {
  for (const std::string& path : known_paths_) {
    const size_t end = at + path.size();
    if (text.substr(at).starts_with(path) &&
        (end == text.size() || is_separator(text[end]) || !is_word(text[end]))) {
      // What follows it without a blank is a part of it.
      size_t more = end;
      if (more < text.size() && is_separator(text[more])) {
        while (more < text.size() && !ends_path(text[more])) {
          ++more;
        }
      }
      return more - at;
    }
  }
  return 0;
}

std::string Redactor::redacted_path(std::string_view path) {
  if (std::ranges::any_of(kKernelRoots,
                          [&](std::string_view root) { return path.starts_with(root); })) {
    return without_names(path);
  }
  std::string result;
  bool of_package = false;
  bool of_home = false;  // the next name is a user's
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find_first_of("/\\", at), path.size());
    const std::string_view name = path.substr(at, end - at);
    const bool drive = at == 0 && name.size() == 2 && name[1] == ':';
    const bool package_folder = std::ranges::find(kPackageFolders, name) != kPackageFolders.end();
    if (of_home && !name.empty()) {
      const auto user = names_.find(name);
      result += user == names_.end() ? stand_in(name, false) : user->second;
    } else if (of_package || package_folder || drive || is_public(name)) {
      result += without_names(name);
    } else {
      result += stand_in(name, end == path.size());
    }
    of_home =
        (name == "home" || name == "Users") && result.size() <= std::string_view("C:/Users").size();
    of_package |= package_folder;
    if (end < path.size()) {
      result += path[end];
    }
    at = end + 1;
  }
  return result;
}

std::string Redactor::redacted_address(std::string_view address) {
  constexpr std::string_view kMark = "://";
  const std::string_view rest = address.substr(kMark.size());
  if (rest.starts_with('/')) {  // file:///home/...
    return std::string(kMark) + redacted_path(rest);
  }
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view host = rest.substr(0, end);
  // Whoever signs in, and with what password, is nobody's business.
  host.remove_prefix(host.rfind('@') + 1);
  const std::string_view name = host.substr(0, host.find(':'));
  if (public_hosts().contains(name)) {
    return fmt::format("{}{}{}", kMark, host, without_names(rest.substr(end)));
  }
  const auto [entry, is_new] = stand_ins_.try_emplace("://" + std::string(name));
  if (is_new) {
    entry->second = fmt::format("host{}", ++hosts_);
  }
  return fmt::format("{}{}{}", kMark, entry->second, end < rest.size() ? "/..." : "");
}

std::string Redactor::stand_in(std::string_view name, bool last) {
  if (const auto found = names_.find(name); found != names_.end()) {
    return found->second;
  }
  const std::string_view ending = last ? ending_of(name) : std::string_view();
  const auto [entry, is_new] = stand_ins_.try_emplace(std::string(name));
  if (is_new) {
    entry->second = ending.empty() ? fmt::format("folder{}", ++folders_)
                                   : fmt::format("file{}{}", ++files_, without_names(ending));
  }
  return entry->second;
}

std::string Redactor::without_names(std::string_view text) const {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) {
      ++end;
    }
    // A host's name may have hyphens and points in it: the longest that is known.
    size_t taken = 0;
    const std::string* instead = nullptr;
    for (const auto& [name, word] : names_) {
      const bool whole = at == 0 || !is_word(text[at - 1]);
      const size_t stop = at + name.size();
      if (whole && name.size() > taken && text.substr(at).starts_with(name) &&
          (stop == text.size() || !is_word(text[stop]))) {
        taken = name.size();
        instead = &word;
      }
    }
    if (instead != nullptr) {
      result += *instead;
      at += taken;
    } else {
      end = std::max(end, at + 1);
      result += text.substr(at, end - at);
      at = end;
    }
  }
  return result;
}

}  // namespace mynah::doctor
