// The source over our own API: DesiredLRPs, ActualLRPs and the Leases that say which domains are fresh, by list and
// watch. Used by Emitter.
//
// Objects are ordered by uid and resourceVersion, whatever modification tags their writers gave them: the API delivers
// them in its own order. A list that lacks something is a pass: what is gone is gone, but a process whose domain has a
// Lease that has run out keeps its names until the domain is fresh again.
//
// Threads: one, that of step(); callbacks of the link may come from any.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/fwd.h"
#include "cluster/list_watch.h"
#include "emitter/source.h"
#include "lrp/book.h"
#include "lrp/packed.h"

namespace fairlead::emitter {

class ApiSource final : public Source {
public:
    // `space`: the namespace to follow; empty: all.
    ApiSource(const std::string& space, cluster::Link& link, lrp::Book& book, const Clock& clock, Random& random,
              Log& log, const std::function<void()>& wake);

    Step step() override;
    [[nodiscard]] bool complete() const override;
    [[nodiscard]] bool current() const override;
    // Watches bring everything in order, or break.
    void confirm() override {}
    [[nodiscard]] bool confirmed() const override { return true; }
    [[nodiscard]] traffic::Certainty certainty() const override;
    [[nodiscard]] std::string problem() const override;
    // Watches bring everything in order: what is not known yet is on its way.
    void resync() override {}
    [[nodiscard]] SourceFigures figures() const override;

private:
    // Of each LRP in the book what it takes to take it out again.
    template <class T, class Packed>
    class Shelf final : public cluster::Sink {
    public:
        Shelf(ApiSource& source, Result<T> (*read)(const json::Value&)) : source_(source), read_(read) {}
        void put(const std::string& key, const json::Value& object) override;
        void erase(const std::string& key) override;
        void keep_only(const std::set<std::string>& keys) override;
        // Takes out what was only kept because its domain was not fresh.
        void expire();

    private:
        ApiSource& source_;
        Result<T> (*read_)(const json::Value&);
        std::map<std::string, Packed> held_;  // identities, without routes and ports
        std::set<std::string> orphans_;       // of `held_`: no longer there, but their domain is not fresh
        std::set<std::string> unreadable_;    // told already
        friend class ApiSource;
    };
    class Domains final : public cluster::Sink {
    public:
        explicit Domains(ApiSource& source) : source_(source) {}
        void put(const std::string& key, const json::Value& object) override;
        void erase(const std::string& key) override;
        void keep_only(const std::set<std::string>& keys) override;
        // It has a Lease, and that has run out.
        [[nodiscard]] bool stale(const std::string& space, const std::string& domain, WallTime now) const;
        [[nodiscard]] std::set<std::string> all_stale(WallTime now) const;  // in any namespace

    private:
        struct Held {
            std::string space, domain;
            std::optional<WallTime> until;  // nothing: for ever
        };
        ApiSource& source_;
        std::map<std::string, Held> held_;  // by key of the Lease
    };

    lrp::Book& book_;
    const Clock& clock_;
    Log& log_;
    MonotonicTime began_;
    SourceFigures figures_;
    Domains domains_;
    Shelf<lrp::Desired, lrp::PackedDesired> desired_;
    Shelf<lrp::Actual, lrp::PackedActual> actual_;
    enum Topics { of_domains, of_desired, of_actual, topic_count };
    std::array<cluster::ListWatch, topic_count> topics_;  // last: their calls end before anything else
};

}  // namespace fairlead::emitter
