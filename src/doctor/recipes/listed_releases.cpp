#include "doctor/recipes/listed_releases.h"

#include <algorithm>

namespace mynah::doctor {

namespace {

using Relation = Specifier::Relation;

bool is_plain(const Specifier& clause) {
  return clause.relation != Relation::SameSpelling && !clause.version.release.empty() &&
         !clause.version.is_prerelease() && !clause.version.post && clause.version.local.empty();
}

// Whether all that a clause lets in is at most as new as a release.
bool ends_before(const Specifier& clause, const Version& newest) {
  switch (clause.relation) {
    case Relation::Below:
    case Relation::AtMost:
      return clause.version <= newest;
    case Relation::Equal:
    case Relation::Compatible: {
      // A series that the newest is not of has ended.
      const bool series = clause.any_below || clause.relation == Relation::Compatible;
      return clause.version <= newest && (!series || !clause.contains(newest));
    }
    default:
      return false;
  }
}

bool begins_behind(const Specifier& clause, const Version& oldest) {
  switch (clause.relation) {
    case Relation::AtLeast:
    case Relation::Above:
    case Relation::Equal:
    case Relation::Compatible:
      return clause.version >= oldest;
    default:
      return false;
  }
}

}  // namespace

ListedReleases listed_releases(const PackageReleases& known, const SpecifierSet& range) {
  ListedReleases listed;
  std::ranges::copy_if(known.releases, std::back_inserter(listed.versions),
                       [&](const Version& version) { return range.contains(version); });
  if (known.releases.empty() || !std::ranges::all_of(range.clauses, is_plain)) {
    return listed;
  }
  listed.no_newer = std::ranges::any_of(range.clauses, [&](const Specifier& clause) {
    return ends_before(clause, known.releases.front());
  });
  listed.no_older = std::ranges::any_of(range.clauses, [&](const Specifier& clause) {
    return begins_behind(clause, known.releases.back());
  });
  return listed;
}

}  // namespace mynah::doctor
