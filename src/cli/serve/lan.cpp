#include "cli/serve/lan.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <qrencode.h>

#include "base/host_name.h"
#include "cli/serve/keys.h"
#include "server/access/addresses.h"
#include "server/access/keys.h"
#include "server/net/own_certificate.h"

namespace mynah::cli {
namespace {

constexpr const char* kKeyName = "lan";

struct FreeAddresses {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

struct FreeCode {
  void operator()(QRcode* code) const { ::QRcode_free(code); }
};

// Those of interfaces that are up and not this machine's own; IPv4 first, which people can type.
std::vector<std::string> addresses_of_machine() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, FreeAddresses> owner(list);
  std::vector<std::string> v4;
  std::vector<std::string> v6;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool counts = entry->ifa_addr != nullptr && (entry->ifa_flags & IFF_UP) != 0 &&
                        (entry->ifa_flags & IFF_LOOPBACK) == 0;
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (counts && entry->ifa_addr->sa_family == AF_INET) {
      const auto* address = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
      ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
      v4.emplace_back(text.data());
    } else if (counts && entry->ifa_addr->sa_family == AF_INET6) {
      const auto* address = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      if (!IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) {  // which browsers do not take
        ::inet_ntop(AF_INET6, &address->sin6_addr, text.data(), text.size());
        v6.emplace_back(text.data());
      }
    }
  }
  v4.insert(v4.end(), v6.begin(), v6.end());
  return v4;
}

std::vector<std::string> names_of_certificate(const std::vector<std::string>& addresses) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  names.insert(names.end(), addresses.begin(), addresses.end());
  if (const std::string host = host_name(); !host.empty()) {
    names.push_back(host);
    names.push_back(host + ".local");
  }
  return names;
}

}  // namespace

Result<LanStart> open_to_lan(const Environment& environment, server::ServerOptions& options) {
  LanStart start{.addresses = addresses_of_machine(), .key = {}, .key_file = options.keys.file};
  if (server::is_this_machine(options.network.host)) {
    options.network.host = "0.0.0.0";
  }
  server::TlsFiles& tls = options.network.tls;
  if (!tls.any()) {
    tls.certificate = environment.config_folder() + "/lan-certificate.pem";
    tls.key = environment.config_folder() + "/lan-certificate-key.pem";
    MYNAH_TRY(const bool good, server::is_good_for(tls.certificate, server::kRenewal));
    if (!good) {
      MYNAH_TRY_STATUS(server::make_certificate(tls, names_of_certificate(start.addresses)));
    }
  }
  auto keys = server::read_keys(options.keys.file);
  if (!keys && keys.error().code != ErrorCode::NotFound) {
    return std::unexpected(std::move(keys).error());
  }
  if (options.keys.secrets.empty() && (!keys || keys->empty()) && !options.open) {
    MYNAH_TRY(start.key,
              server::add_key(options.keys.file,
                              {.name = kKeyName, .digest = {}, .limits = {}, .made = {}}));
  }
  return start;
}

std::string lan_link(const LanStart& start, const std::string& https) {
  const std::string port = https.substr(https.rfind(':'));
  std::string host = start.addresses.empty() ? "127.0.0.1" : start.addresses.front();
  if (host.contains(':')) {
    host = "[" + host + "]";
  }
  return link_with_key(fmt::format("https://{}{}", host, port), start.key);
}

std::string link_with_key(std::string address, const std::string& key) {
  if (!address.ends_with('/')) {
    address += '/';
  }
  return key.empty() ? address : fmt::format("{}#key={}", address, key);
}

std::string lan_text(const LanStart& start, const std::string& https,
                     const std::string& certificate_file, const std::string& reload) {
  const std::string link = lan_link(start, https);
  const std::string add = fmt::format("`mynah keys add NAME --key-file {} --link {}`",
                                      start.key_file, link.substr(0, link.find('#')));
  std::string text = fmt::format("devices of this network: {}\n", link);
  text += start.key.empty()
              ? fmt::format(
                    "  no key is in it: they are asked for theirs once. A key that was lost "
                    "is shown by nobody; another, with a QR code, is made by\n  {}, then {}\n",
                    add, reload)
              : fmt::format("  the key in it is shown this once; {}, then {}, makes another\n", add,
                            reload);
  const auto fingerprint = server::fingerprint_of(certificate_file);
  text += fmt::format(
      "  browsers warn of a certificate that nobody vouches for; its SHA-256 must be\n  {}\n",
      fingerprint ? *fingerprint : fingerprint.error().message);
  return text + qr_code(link);
}

std::string qr_code(const std::string& text) {
  const std::unique_ptr<QRcode, FreeCode> code(
      ::QRcode_encodeString8bit(text.c_str(), 0, QR_ECLEVEL_L));
  if (!code) {
    return {};
  }
  constexpr int kQuiet = 2;  // rows of nothing around it: ISO 18004 has 4, cameras do with 2
  const int width = code->width;
  // Lit where the paper would be white: terminals are dark, as a rule.
  const auto is_light = [&code, width](int row, int column) {
    const bool inside = row >= 0 && row < width && column >= 0 && column < width;
    const auto at =
        static_cast<size_t>(row) * static_cast<size_t>(width) + static_cast<size_t>(column);
    return !inside || (code->data[at] & 1U) == 0;
  };
  std::string drawn;
  for (int row = -kQuiet; row < width + kQuiet; row += 2) {
    for (int column = -kQuiet; column < width + kQuiet; ++column) {
      const bool above = is_light(row, column);
      const bool below = is_light(row + 1, column);
      drawn += above && below ? "█" : above ? "▀" : below ? "▄" : " ";
    }
    drawn += "\n";
  }
  return drawn;
}

}  // namespace mynah::cli
