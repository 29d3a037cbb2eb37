#include "engine/open_placer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "engine/discovery_search.h"
#include "engine/storage_choice.h"
#include "engine/store_folders.h"
#include "place/discovery/host.h"
#include "place/kinds/llm/llm.h"
#include "place/plans/profile_folder.h"
#include "place/terms/device_name.h"

namespace mynah::engine {

namespace {

// 0: none is asked for.
Result<int> card_level(const Environment& environment) {
  const std::string text = environment.get("MYNAH_CUDA_LEVEL").value_or("");
  int level = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size() || level <= 0)) {
    return fail(
        ErrorCode::Usage,
        fmt::format("MYNAH_CUDA_LEVEL is \"{}\": it is a level of programs, such as 80 or 90 "
                    "(docs/cuda.md); unset it for what suits the card",
                    text));
  }
  return level;
}

// A number with one of the units behind it, each times its factor; none: it is none.
struct Unit {
  std::string_view name;
  double factor;
};

std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  const auto unit = std::ranges::find(units, rest, &Unit::name);
  return unit == units.end() ? std::nullopt : std::optional(number * unit->factor);
}

// 0: "".
Result<uint64_t> parse_bytes(std::string_view flag, const std::string& text) {
  constexpr std::array kUnits = {
      Unit{"", 1},         Unit{"B", 1},           Unit{"K", 1e3},           Unit{"KB", 1e3},
      Unit{"M", 1e6},      Unit{"MB", 1e6},        Unit{"G", 1e9},           Unit{"GB", 1e9},
      Unit{"KiB", 1024.0}, Unit{"MiB", 1048576.0}, Unit{"GiB", 1073741824.0}};
  if (text.empty()) {
    return 0;
  }
  const auto bytes = parse_quantity(text, kUnits);
  constexpr double kLeastWithoutUnit = 1e6;  // no model is as small
  if (bytes && is_ascii_digit(text.back()) && *bytes < kLeastWithoutUnit) {
    return fail(ErrorCode::Usage,
                fmt::format("{}: wanted a size such as 4GB or 800MB, found '{}', which is {} "
                            "bytes: its unit is missing",
                            flag, text, text));
  }
  if (!bytes || *bytes < 1 || *bytes > 1e15) {
    return fail(ErrorCode::Usage,
                fmt::format("{}: wanted a size such as 4GB or 800MB (a number with B, K, KB, KiB, "
                            "M, MB, MiB, G, GB or GiB), found '{}'",
                            flag, text));
  }
  return static_cast<uint64_t>(*bytes);
}

// The one that --device names, or those in use where --device says nothing. Which models those are
// of that cannot be read is seen when one is placed.
Status add_profiles(const PlacementWish& wish, const Surroundings& surroundings,
                    place::PlacerOptions& options) {
  const place::ProfileFolder folder(store_folders(surroundings.environment).home);
  if (!options.request.profile.empty()) {
    MYNAH_TRY(place::Profile named, load_named_profile(folder, options.request.profile));
    options.profiles.push_back(std::move(named));
  } else if (wish.pinned && options.request == place::DeviceRequest{}) {
    const auto pins = folder.pins();
    if (!pins) {
      surroundings.note(
          {.code = "profiles-unreadable",
           .text = fmt::format("which profiles are in use cannot be read, and auto decides: {}",
                               pins.error().message),
           .remedy = {}});
      return {};
    }
    for (const place::ProfilePin& pin : *pins) {
      auto profile = folder.load(pin.name);
      if (profile) {
        options.profiles.push_back(*std::move(profile));
      } else {
        options.unreadable_profiles.push_back({.name = pin.name,
                                               .model = pin.model,
                                               .model_sha256 = pin.model_sha256,
                                               .why = std::move(profile).error().message});
      }
    }
  }
  return {};
}

}  // namespace

Result<place::Profile> load_named_profile(const place::ProfileFolder& folder,
                                          const std::string& name) {
  auto profile = folder.load(name);
  if (!profile && profile.error().code == ErrorCode::NotFound) {
    profile.error().code = ErrorCode::Usage;
  }
  return profile;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::array kUnits = {Unit{"", 1e3}, Unit{"s", 1e3}, Unit{"m", 6e4}, Unit{"h", 3.6e6},
                                 Unit{"d", 8.64e7}};
  constexpr double kMost_ms = 1e12;
  const auto time_ms = parse_quantity(text, kUnits);
  return time_ms && *time_ms <= kMost_ms
             ? std::optional(std::chrono::milliseconds(static_cast<int64_t>(*time_ms)))
             : std::nullopt;
}

Status check_threads(int threads) {
  constexpr int kMost = 1024;
  return threads >= 0 && threads <= kMost
             ? Status()
             : fail(ErrorCode::Usage,
                    fmt::format("--threads: wanted 0 to {}, found {}", kMost, threads));
}

Result<place::DeviceSettings> device_settings(int threads, const Environment& environment) {
  MYNAH_TRY_STATUS(check_threads(threads));
  place::DeviceSettings settings;
  const gpu::GpuSearch search = card_search(environment);
  settings.cuda_driver = search.driver.file;
  settings.visible_devices = search.visible_devices;
  MYNAH_TRY(settings.cuda_level, card_level(environment));
  settings.image_folder =
      (std::filesystem::path(store_folders(environment).cache) / "cuda").string();
  settings.threads = threads > 0 ? threads : place::usable_cores();
  return settings;
}

Result<std::optional<std::chrono::milliseconds>> parse_keep_alive(const std::string& name,
                                                                  const std::string& text) {
  const bool is_negative = text.starts_with('-');
  const auto time = parse_duration(is_negative ? text.substr(1) : text);
  if (text == "never" || (is_negative && time && time->count() > 0)) {
    return std::optional<std::chrono::milliseconds>();
  }
  if (!time) {
    return fail(ErrorCode::Usage,
                fmt::format("{}: wanted seconds, or a time such as 30s, 5m or 1h (0: nothing is "
                            "kept), or never (nothing is let go), found '{}'",
                            name, text));
  }
  return time;
}

Result<std::shared_ptr<place::Placer>> open_placer(const PlacementWish& wish,
                                                   const Surroundings& surroundings) {
  if (wish.beside != nullptr) {
    return wish.beside;
  }
  place::PlacerOptions options;
  MYNAH_TRY(options.request, place::parse_device_request(wish.device));
  MYNAH_TRY(options.settings, device_settings(wish.threads, surroundings.environment));
  // Threads that wait for each other without a core to run on take longer, and not shorter.
  if (const int most = std::max(16, 4 * place::usable_cores()); options.settings.threads > most) {
    surroundings.note({.code = "threads-lowered",
                       .text = fmt::format("{} threads are more than {} cores are served by: {} "
                                           "compute",
                                           options.settings.threads, place::usable_cores(), most),
                       .remedy = {}});
    options.settings.threads = most;
  }
  options.settings.mynahs = options.request.mynahs;
  options.discovery = discovery_search(surroundings.environment);
  options.cache_folder = store_folders(surroundings.environment).cache;
  options.worker_program = worker_program(surroundings.environment);
  MYNAH_TRY(options.faults,
            place::parse_faults(surroundings.environment.get("MYNAH_FAULT").value_or("")));
  MYNAH_TRY(options.storage, parse_storage(wish.storage));
  options.precision = wish.precision;
  options.batch = wish.batch;
  MYNAH_TRY(options.max_vram, parse_bytes("--max-vram", wish.max_vram));
  MYNAH_TRY(options.keep_alive, parse_keep_alive("--keep-alive", wish.keep_alive));
  MYNAH_TRY_STATUS(add_profiles(wish, surroundings, options));
  std::string card;  // beside which profiles that are in use count for other models
  if (wish.gpu_layers) {
    MYNAH_TRY(card, place::put_layers(options.request, *wish.gpu_layers));
  }
  options.stop = surroundings.stop;
  options.say = [tell = surroundings.tell](const std::string& line) {
    if (tell) {
      tell({.code = "placement", .text = line, .remedy = {}});
    }
  };
  if (!wish.quiet) {
    options.tell = options.say;
  }
  auto placer = std::make_shared<place::Placer>(std::move(options));
  MYNAH_TRY_STATUS(placer->check_request());
  if (!card.empty()) {
    if (Status there = placer->state().openings().check_named(card); !there) {
      return std::unexpected(
          std::move(there).error().while_doing(fmt::format("--gpu-layers {}", *wish.gpu_layers)));
    }
  }
  return placer;
}

}  // namespace mynah::engine
