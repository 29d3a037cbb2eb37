#include "place/discovery/device_cache.h"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "base/atomic_file.h"
#include "formats/json.h"

namespace mynah::place {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kMagic = "mynah devices 1";
// Far above any machine's: a file that is larger is not one of ours.
constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kMostDevices = 256;

// The one list of what is kept of a device. The handle is the driver's own number, good for one
// process.
template <class Device, class Visit>
void visit_fields(Device& device, Visit&& visit) {
  visit("index", device.index);
  visit("name", device.name);
  visit("uuid", device.uuid);
  visit("pci_bus_id", device.pci_bus_id);
  visit("compute_major", device.compute_major);
  visit("compute_minor", device.compute_minor);
  visit("multiprocessors", device.multiprocessors);
  visit("memory_bytes", device.memory_bytes);
  visit("shared_bytes_per_block", device.shared_bytes_per_block);
  visit("shared_bytes_per_multiprocessor", device.shared_bytes_per_multiprocessor);
  visit("l2_bytes", device.l2_bytes);
  visit("memory_clock_khz", device.memory_clock_khz);
  visit("memory_bus_bits", device.memory_bus_bits);
  visit("integrated", device.integrated);
  visit("mig", device.mig);
  visit("memory_pools", device.memory_pools);
  visit("launch_timeout", device.launch_timeout);
  visit("compute_mode", device.compute_mode);
}

// Each is true where the value is of the right kind and in range.
bool read(const Json& json, std::string& out) {
  if (!json.is_string()) {
    return false;
  }
  out = json.get<std::string>();
  return true;
}

bool read(const Json& json, bool& out) {
  if (!json.is_boolean()) {
    return false;
  }
  out = json.get<bool>();
  return true;
}

bool read(const Json& json, uint64_t& out) {
  if (!json.is_number_unsigned()) {
    return false;
  }
  out = json.get<uint64_t>();
  return true;
}

// No count of the driver's is below zero.
bool read(const Json& json, int& out) {
  uint64_t number = 0;
  if (!read(json, number) || number > std::numeric_limits<int>::max()) {
    return false;
  }
  out = static_cast<int>(number);
  return true;
}

bool read(const Json& json, gpu::CUcomputemode& out) {
  int number = 0;
  if (!read(json, number) || number > gpu::CU_COMPUTEMODE_EXCLUSIVE_PROCESS) {
    return false;
  }
  out = static_cast<gpu::CUcomputemode>(number);
  return true;
}

template <class T>
bool read_member(const Json& object, const char* name, T& out) {
  const auto member = object.find(name);
  return member != object.end() && read(*member, out);
}

bool read_device(const Json& json, gpu::GpuDevice& device) {
  bool good = json.is_object();
  visit_fields(device, [&](const char* name, auto& value) {
    good = good && read_member(json, name, value);
  });
  return good;
}

uint32_t checksum(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string head_of(std::string_view body) {
  return fmt::format("{} {:08x}\n", kMagic, checksum(body));
}

}  // namespace

std::string file_stamp(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  if (error) {
    return path;
  }
  const uintmax_t bytes = fs::file_size(resolved, error);
  const auto changed = fs::last_write_time(resolved, error).time_since_epoch();
  return error ? path
               : fmt::format("{} {} {}", resolved.string(), bytes,
                             std::chrono::nanoseconds(changed).count());
}

std::string write_answer(const CachedAnswer& cached) {
  Json devices = Json::array();
  for (const gpu::GpuDevice& device : cached.answer.devices) {
    Json json;
    visit_fields(device, [&]<class T>(const char* name, const T& value) {
      if constexpr (std::is_enum_v<T>) {
        json[name] = static_cast<int>(value);
      } else {
        json[name] = value;
      }
    });
    devices.push_back(std::move(json));
  }
  const Json all = {{"key", cached.key},
                    {"library", cached.library},
                    {"version", cached.answer.version},
                    {"release", cached.answer.release},
                    {"path", cached.answer.path},
                    {"devices", std::move(devices)}};
  // A name that is no UTF-8 must not end the program; such a file is never read back as it was.
  const std::string body = all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return head_of(body) + body;
}

std::optional<CachedAnswer> read_answer(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  if (bytes.size() > kMostBytes || end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view body = bytes.substr(end + 1);
  if (bytes.substr(0, end + 1) != head_of(body)) {
    return std::nullopt;
  }
  const auto json = parse_json(body, "the cache of devices");
  CachedAnswer cached;
  DriverAnswer& answer = cached.answer;
  if (!json || !json->is_object() || !read_member(*json, "key", cached.key) ||
      !read_member(*json, "library", cached.library) ||
      !read_member(*json, "version", answer.version) ||
      !read_member(*json, "release", answer.release) || !read_member(*json, "path", answer.path)) {
    return std::nullopt;
  }
  const auto devices = json->find("devices");
  if (devices == json->end() || !devices->is_array() || devices->empty() ||
      devices->size() > kMostDevices) {
    return std::nullopt;
  }
  for (const Json& json_of_one : *devices) {
    gpu::GpuDevice device;
    if (!read_device(json_of_one, device)) {
      return std::nullopt;
    }
    answer.devices.push_back(std::move(device));
  }
  return cached;
}

std::optional<DriverAnswer> find_answer(const std::string& file, std::string_view key) {
  std::error_code error;
  const uintmax_t size = fs::file_size(file, error);
  if (error || size > kMostBytes) {
    return std::nullopt;
  }
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(static_cast<size_t>(size), '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(stream.gcount()));
  auto cached = read_answer(bytes);
  if (!cached || cached->key != key || cached->library != file_stamp(cached->answer.path)) {
    return std::nullopt;
  }
  return std::move(cached->answer);
}

Status keep_answer(const std::string& file, std::string_view key, const DriverAnswer& answer) {
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  if (error) {
    return fail(ErrorCode::Io, fmt::format("making the folder of {}: {}", file, error.message()));
  }
  MYNAH_TRY(AtomicFile out, AtomicFile::create(file));
  MYNAH_TRY_STATUS(out.write(write_answer(
      {.key = std::string(key), .library = file_stamp(answer.path), .answer = answer})));
  return out.commit();
}

}  // namespace mynah::place
