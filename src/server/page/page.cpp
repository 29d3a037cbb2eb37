#include "server/page/page.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/embedded_file.h"

MYNAH_EMBEDDED_FILE(page_index, MYNAH_WEB "/index.html")
MYNAH_EMBEDDED_FILE(page_icon, MYNAH_WEB "/icon.svg")
MYNAH_EMBEDDED_FILE(page_style, MYNAH_WEB "/page.css")
MYNAH_EMBEDDED_FILE(page_script, MYNAH_WEB "/page.js")
MYNAH_EMBEDDED_FILE(page_api, MYNAH_WEB "/api.js")
MYNAH_EMBEDDED_FILE(page_bytes, MYNAH_WEB "/bytes.js")
MYNAH_EMBEDDED_FILE(page_capture, MYNAH_WEB "/capture.js")
MYNAH_EMBEDDED_FILE(page_chat, MYNAH_WEB "/chat.js")
MYNAH_EMBEDDED_FILE(page_choice, MYNAH_WEB "/choice.js")
MYNAH_EMBEDDED_FILE(page_hear, MYNAH_WEB "/hear.js")
MYNAH_EMBEDDED_FILE(page_here, MYNAH_WEB "/here.js")
MYNAH_EMBEDDED_FILE(page_history, MYNAH_WEB "/history.js")
MYNAH_EMBEDDED_FILE(page_jobs, MYNAH_WEB "/jobs.js")
MYNAH_EMBEDDED_FILE(page_live, MYNAH_WEB "/live.js")
MYNAH_EMBEDDED_FILE(page_player, MYNAH_WEB "/player.js")
MYNAH_EMBEDDED_FILE(page_speak, MYNAH_WEB "/speak.js")
MYNAH_EMBEDDED_FILE(page_subtitles, MYNAH_WEB "/subtitles.js")
MYNAH_EMBEDDED_FILE(page_talk, MYNAH_WEB "/talk.js")

namespace mynah::server {
namespace {

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors ";

Handler file(std::string_view bytes, const char* type, bool framed) {
  return [bytes, type, framed](Exchange& exchange) {
    Response response;
    response.type = type;
    response.body = bytes;
    response.headers.set("Content-Security-Policy",
                         fmt::format("{}{}", kPolicy, framed ? "'self'" : "'none'"));
    response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
    response.headers.set("Referrer-Policy", "no-referrer");
    response.headers.set("Cache-Control", "no-cache");
    exchange.answer(std::move(response));
  };
}

}  // namespace

std::vector<Route> page_routes(bool framed) {
  struct File {
    const char* path;
    std::string_view bytes;
    const char* type;
  };

  constexpr const char* kScript = "text/javascript; charset=utf-8";
  const std::array<File, 18> files = {{{"/", page_index(), "text/html; charset=utf-8"},
                                       {"/icon.svg", page_icon(), "image/svg+xml"},
                                       {"/page.css", page_style(), "text/css; charset=utf-8"},
                                       {"/page.js", page_script(), kScript},
                                       {"/api.js", page_api(), kScript},
                                       {"/bytes.js", page_bytes(), kScript},
                                       {"/capture.js", page_capture(), kScript},
                                       {"/chat.js", page_chat(), kScript},
                                       {"/choice.js", page_choice(), kScript},
                                       {"/hear.js", page_hear(), kScript},
                                       {"/here.js", page_here(), kScript},
                                       {"/history.js", page_history(), kScript},
                                       {"/jobs.js", page_jobs(), kScript},
                                       {"/live.js", page_live(), kScript},
                                       {"/player.js", page_player(), kScript},
                                       {"/speak.js", page_speak(), kScript},
                                       {"/subtitles.js", page_subtitles(), kScript},
                                       {"/talk.js", page_talk(), kScript}}};
  std::vector<Route> routes;
  routes.reserve(files.size());
  for (const File& one : files) {
    Route& route = routes.emplace_back();
    route.method = "GET";
    route.path = one.path;
    route.help = "The page.";
    route.handler = file(one.bytes, one.type, framed);
    route.open = Open::ToAll;
    route.answers = std::string_view(one.type).substr(0, std::string_view(one.type).find(';'));
  }
  return routes;
}

}  // namespace mynah::server
