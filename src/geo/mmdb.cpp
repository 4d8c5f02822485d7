#include "geo/mmdb.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <maxminddb.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <system_error>
#include <unordered_map>

#include "geo/mmdb_data.h"

namespace fairlead::geo {

namespace {

constexpr std::string_view metadata_marker = "\xab\xcd\xefMaxMind.com";
constexpr std::size_t separator_bytes = 16;  // between the tree and the data
// A tree comes by each of its nodes once; one that shares branches, a few times; a broken one has circles, and 2^128
// ways.
constexpr std::uint64_t max_visits_per_node = 16;

std::string system_message() { return std::generic_category().message(errno); }

class File {
public:
    explicit File(int fd) : fd_(fd) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    [[nodiscard]] int fd() const { return fd_; }

private:
    int fd_;
};

class Database {
public:
    Database() = default;
    ~Database() {
        if (open_) MMDB_close(&mmdb_);
    }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    int open(const std::string& path) {
        const int status = MMDB_open(path.c_str(), MMDB_MODE_MMAP, &mmdb_);
        open_ = status == MMDB_SUCCESS;
        return status;
    }
    [[nodiscard]] const MMDB_s& get() const { return mmdb_; }

private:
    MMDB_s mmdb_{};
    bool open_ = false;
};

// The library maps the file, and a map of a file that somebody shortens meanwhile kills the process: so it gets a copy
// that nobody else can touch.
Result<void> copy_aside(const std::filesystem::path& path, int to) {
    const File from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (from.fd() < 0) {
        const auto code = errno == ENOENT ? Errc::not_found : Errc::invalid;
        return fail(code, system_message());
    }
    std::vector<char> buffer(std::size_t{1} << 20U);
    std::size_t total = 0;
    while (true) {
        const auto got = ::read(from.fd(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(Errc::invalid, system_message());
        if (got == 0) return {};
        total += static_cast<std::size_t>(got);
        if (total > max_mmdb_bytes) {
            return fail(Errc::too_large, fmt::format("is larger than {} MiB", max_mmdb_bytes >> 20U));
        }
        for (ssize_t done = 0; done < got;) {
            const auto put = ::write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
            if (put < 0 && errno != EINTR) return fail(Errc::internal, system_message());
            if (put > 0) done += put;
        }
    }
}

// Metadata is read by the library, which calls itself for each level.
Result<void> check_metadata(int fd, std::size_t size) {
    constexpr std::size_t reach = std::size_t{128} << 10U;  // the marker stands in the last 128 KiB
    std::string tail(std::min(size, reach), '\0');
    if (::pread(fd, tail.data(), tail.size(), static_cast<off_t>(size - tail.size())) !=
        static_cast<ssize_t>(tail.size())) {
        return fail(Errc::internal, system_message());
    }
    const auto marker = tail.rfind(metadata_marker);
    if (marker == std::string::npos) return fail(Errc::invalid, "is not an MMDB file: it has no metadata");
    return MmdbData(std::string_view(tail).substr(marker + metadata_marker.size())).check_depth(0);
}

class Walker {
public:
    explicit Walker(const MMDB_s& mmdb)
        : mmdb_(mmdb),
          data_({reinterpret_cast<const char*>(mmdb.data_section), mmdb.data_section_size}),
          nodes_(mmdb.metadata.node_count) {
        content.places.emplace_back();
        ids_.emplace(dns::Place{}, 0);
    }
    Result<void> walk();
    MmdbContent content;

private:
    template <class Number>
    struct Branch {
        std::uint64_t record;
        Number first;
        unsigned depth;
    };
    Result<std::uint64_t> child(std::uint64_t node, bool right) const;
    Result<std::uint32_t> place_at(std::uint64_t record);
    Result<dns::Place> decode(std::size_t offset) const;
    template <class Number>
    Result<void> flatten(std::uint64_t root, std::optional<std::uint64_t> alias, Intervals<Number>& out);

    const MMDB_s& mmdb_;
    MmdbData data_;
    std::uint64_t nodes_;
    std::size_t leaves_ = 0;
    std::uint64_t visits_ = 0;
    std::map<dns::Place, std::uint32_t> ids_;
    std::unordered_map<std::uint64_t, std::uint32_t> by_record_;
};

Result<std::uint64_t> Walker::child(std::uint64_t node, bool right) const {
    MMDB_search_node_s found{};
    if (MMDB_read_node(&mmdb_, static_cast<std::uint32_t>(node), &found) != MMDB_SUCCESS) {
        return fail(Errc::corrupt, fmt::format("node {} cannot be read", node));
    }
    return right ? found.right_record : found.left_record;
}

Result<dns::Place> Walker::decode(std::size_t offset) const {
    const auto continent = data_.text(offset, {"continent", "code"});
    if (!continent) return fail(continent.error());
    const auto country = data_.text(offset, {"country", "iso_code"});
    if (!country) return fail(country.error());
    const auto subdivision = data_.text(offset, {"subdivisions", std::size_t{0}, "iso_code"});
    if (!subdivision) return fail(subdivision.error());
    dns::Place place;
    // What is no code that a record could name is as good as not known.
    if (*continent) {
        if (const auto code = dns::GeoCode::continent(**continent)) place.continent = code->code;
    }
    if (*country) {
        const auto code = dns::GeoCode::parse(**country);
        if (code && code->level == dns::GeoLevel::country) place.country = code->code;
    }
    if (*subdivision && !place.country.empty()) {
        const auto code = dns::GeoCode::parse(fmt::format("{}-{}", place.country, **subdivision));
        if (code && code->level == dns::GeoLevel::subdivision) place.subdivision = code->code;
    }
    return place;
}

Result<std::uint32_t> Walker::place_at(std::uint64_t record) {
    if (record == nodes_) return 0;
    if (const auto known = by_record_.find(record); known != by_record_.end()) return known->second;
    if (record < nodes_ + separator_bytes || record - nodes_ - separator_bytes >= mmdb_.data_section_size) {
        return fail(Errc::corrupt, fmt::format("the tree points to {}, where no data is", record));
    }
    auto place = decode(record - nodes_ - separator_bytes);
    if (!place) return fail(place.error());
    const auto [id, added] = ids_.emplace(*place, static_cast<std::uint32_t>(content.places.size()));
    if (added) content.places.push_back(std::move(*place));
    by_record_.emplace(record, id->second);
    return id->second;
}

// In the order of addresses. `alias`: the node below which the IPv4 addresses stand, wherever the tree comes by it.
template <class Number>
Result<void> Walker::flatten(std::uint64_t root, std::optional<std::uint64_t> alias, Intervals<Number>& out) {
    constexpr unsigned bits = sizeof(Number) * 8;
    std::vector<Branch<Number>> waiting{{root, 0, 0}};
    while (!waiting.empty()) {
        const auto at = waiting.back();
        waiting.pop_back();
        const bool is_alias = alias && at.record == *alias && at.depth <= 96;
        if (!is_alias && at.record < nodes_) {
            if (at.depth == bits) return fail(Errc::corrupt, fmt::format("the tree is deeper than {} bits", bits));
            if (++visits_ > max_visits_per_node * nodes_) return fail(Errc::corrupt, "the tree has circles");
            MMDB_search_node_s node{};
            if (MMDB_read_node(&mmdb_, static_cast<std::uint32_t>(at.record), &node) != MMDB_SUCCESS) {
                return fail(Errc::corrupt, fmt::format("node {} cannot be read", at.record));
            }
            const auto half = static_cast<Number>(Number{1} << (bits - 1 - at.depth));
            waiting.push_back({node.right_record, static_cast<Number>(at.first | half), at.depth + 1});
            waiting.push_back({node.left_record, at.first, at.depth + 1});
            continue;
        }
        if (++leaves_ > max_mmdb_networks) {
            return fail(Errc::too_large, fmt::format("has more than {} networks", max_mmdb_networks));
        }
        std::uint32_t value = alias_flag | at.depth;
        if (!is_alias) {
            const auto place = place_at(at.record);
            if (!place) return fail(place.error());
            value = *place;
        }
        out.append(at.first, value);
    }
    return {};
}

Result<void> Walker::walk() {
    std::uint64_t root4 = 0;
    if (mmdb_.metadata.ip_version == 6) {
        // IPv4 addresses are the IPv6 addresses ::/96, and hang in some other places as well.
        for (int i = 0; i < 96 && root4 < nodes_; ++i) {
            const auto next = child(root4, false);
            if (!next) return fail(next.error());
            root4 = *next;
        }
        const auto alias = root4 < nodes_ ? std::optional(root4) : std::nullopt;
        if (auto done = flatten(0, alias, content.networks6); !done) return done;
    }
    if (auto done = flatten(root4, std::nullopt, content.networks4); !done) return done;
    if (content.places.size() == 1) {
        return fail(Errc::invalid,
                    fmt::format("has no places: none of its {} records has a country or a continent (its type is {})",
                                by_record_.size(), mmdb_.metadata.database_type));
    }
    return {};
}

Result<MmdbContent> read(const std::filesystem::path& path) {
    const File copy(::memfd_create("mmdb", MFD_CLOEXEC));
    if (copy.fd() < 0) return fail(Errc::internal, system_message());
    if (auto copied = copy_aside(path, copy.fd()); !copied) return fail(copied.error());
    const auto size = static_cast<std::size_t>(::lseek(copy.fd(), 0, SEEK_END));
    if (auto checked = check_metadata(copy.fd(), size); !checked) return fail(checked.error());
    Database database;
    if (const int status = database.open(fmt::format("/proc/self/fd/{}", copy.fd())); status != MMDB_SUCCESS) {
        return fail(Errc::corrupt, MMDB_strerror(status));
    }
    const auto& mmdb = database.get();
    if (mmdb.metadata.ip_version != 4 && mmdb.metadata.ip_version != 6) {
        return fail(Errc::corrupt, fmt::format("is for IP version {}", mmdb.metadata.ip_version));
    }
    if (mmdb.metadata.node_count == 0) return fail(Errc::corrupt, "has an empty tree");
    Walker walker(mmdb);
    if (auto walked = walker.walk(); !walked) return fail(walked.error());
    return std::move(walker.content);
}

}  // namespace

Result<MmdbContent> read_mmdb(const std::filesystem::path& path) {
    auto content = read(path);
    if (!content) {
        auto error = content.error();
        error.message = fmt::format("{}: {}", path.string(), error.message);
        return fail(std::move(error));
    }
    return content;
}

}  // namespace fairlead::geo
