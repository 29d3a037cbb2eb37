// `mynah serve --lan`: for the phones and tablets of a home, which give a microphone to a page that
// came encrypted alone.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "server/server.h"

namespace mynah::cli {

// What a server shows to devices that are to find it.
struct LanStart {
  std::vector<std::string> addresses;  // of this machine, those of the network first
  std::string key;  // made just now; "": there is one already, which nobody knows
  std::string key_file;
};

// Lets the network in: host, a certificate and a key, each made where there is none in mynah's
// configuration folder. What make_certificate(), read_keys() and write_keys() refuse.
Result<LanStart> open_to_lan(const Environment& environment, server::ServerOptions& options);

// What to type or to scan, for people: a link, the certificate's fingerprint, a QR code of the link
// (libqrencode). `https`: "https://0.0.0.0:8080", where the server listens. `reload`: what has it
// read its keys again.
std::string lan_text(const LanStart& start, const std::string& https,
                     const std::string& certificate_file, const std::string& reload);

// The link: "https://192.168.1.7:8080/#key=mynah-...". Behind # it reaches no server and no log.
[[nodiscard]] std::string lan_link(const LanStart& start, const std::string& https);

// "https://192.168.1.7:8080/#key=KEY" of a server's address; without a key the address alone.
[[nodiscard]] std::string link_with_key(std::string address, const std::string& key);

// A QR code of that text in block letters, two rows of it a line; "" where the text is too long.
[[nodiscard]] std::string qr_code(const std::string& text);

}  // namespace mynah::cli
