// Server: everything that mynah does, reachable by the protocols that clients have.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "server/access/gate.h"
#include "server/jobs/job_service.h"
#include "server/metrics/socket_turns.h"
#include "server/models/service.h"
#include "server/net/network.h"
#include "server/router.h"
#include "server/wyoming/announcement.h"

namespace mynah::server {

struct ServerOptions {
  NetworkOptions network;
  GateOptions gate;
  KeySources keys;
  ServiceOptions service;
  JobOptions jobs;
  int wyoming_port = 10300;                // 0: none
  bool wyoming_endpointing = false;        // where a turn ends is found here
  std::vector<std::string> wyoming_allow;  // ranges of addresses besides this machine
  std::vector<int> wyoming_passed{};       // sockets that listen already, in place of that port
  std::string base_path{};                 // "/x": that a proxy puts before all paths; "": none
  bool open = false;                       // to others than this machine though no key is wanted
  std::string media_program{};             // mynah-media; "": beside this program
  Router::Log log{};                       // told of each request that is over
};

class Server {
 public:
  // Listens, and opens no model yet. Usage where others than this machine could ask without a key
  // and that was not said to be meant; what Network::listen() and Service::create() refuse.
  static Result<std::unique_ptr<Server>> create(ServerOptions options,
                                                engine::Surroundings surroundings);

  // Where it listens: "http://127.0.0.1:8080", "tcp://127.0.0.1:10300" for Wyoming.
  [[nodiscard]] std::vector<std::string> addresses() const;

  // Reads keys and the certificate again, for what is asked from now on. From any thread.
  Status reload();

  // How many requests are served now. From any thread.
  [[nodiscard]] size_t under_way() const { return network_->counts().requests; }

  // Serves until stop is requested and what is under way has come to its end.
  void run(const std::stop_token& stop);

 private:
  Server() = default;

  // Takes what it needs of the options.
  void make_turns(ServerOptions& options);
  void make_router(ServerOptions& options);
  Status listen_for_wyoming(const ServerOptions& options, const std::string& host);

  std::unique_ptr<KeyRing> keys_;
  ClientSecrets secrets_;
  bool encrypted_ = false;
  std::unique_ptr<Service> service_;
  std::unique_ptr<JobService> jobs_;
  std::optional<TurnPlaces> turns_;
  std::unique_ptr<Router> router_;
  std::optional<Announcement> announcement_;
  std::unique_ptr<Network> network_;  // the first to go
};

// What routes answer with; all must outlive them.
struct RouteNeeds {
  Service& service;
  JobService& jobs;
  ClientSecrets& secrets;
  const TurnPlaces& turns;
  std::string media_program;
  bool framed = false;  // a page of the same origin may show ours in a frame: a proxy's own
};

// The table of all that the server answers.
[[nodiscard]] std::vector<Route> all_routes(const RouteNeeds& needs);

}  // namespace mynah::server
