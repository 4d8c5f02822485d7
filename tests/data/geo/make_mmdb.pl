#!/usr/bin/env perl
# Makes an MMDB file like GeoLite2 City from lines "network,continent,country,subdivision".
# Usage: make_mmdb.pl FROM.csv TO.mmdb [city4|city|asn]   (city4: IPv4 alone; asn: a file of another kind, without places)
use strict;
use warnings;
use MaxMind::DB::Writer::Tree;

my ($from, $to, $kind) = (@ARGV, 'city');
my $version = $kind eq 'city4' ? 4 : 6;
my %types = (
    continent => 'map', country => 'map', subdivisions => ['array', 'map'], names => 'map', en => 'utf8_string',
    code => 'utf8_string', iso_code => 'utf8_string', geoname_id => 'uint32',
    autonomous_system_number => 'uint32', location => 'map', latitude => 'double', longitude => 'double',
);
my $tree = MaxMind::DB::Writer::Tree->new(
    ip_version => $version,
    record_size => $version == 4 ? 24 : 28,
    database_type => $kind eq 'asn' ? 'GeoLite2-ASN' : 'GeoLite2-City',
    languages => ['en'],
    description => {en => 'Fairlead test places'},
    remove_reserved_networks => 0,
    ($version == 6 ? (alias_ipv6_to_ipv4 => 1) : ()),
    map_key_type_callback => sub { $types{$_[0]} },
);
open my $lines, '<', $from or die "$from: $!";
while (my $line = <$lines>) {
    chomp $line;
    next if $line =~ /^#/ || $line eq '';
    my ($network, $continent, $country, $subdivision) = split /,/, $line, -1;
    next if $version == 4 && $network =~ /:/;
    my %record;
    if ($kind eq 'asn') {
        $record{autonomous_system_number} = 64496;
    } else {
        $record{continent} = {code => $continent, geoname_id => 1, names => {en => "Continent $continent"}} if $continent;
        $record{country} = {geoname_id => 2, iso_code => $country, names => {en => "Country $country"}} if $country;
        $record{location} = {latitude => 1.5, longitude => -2.5};
        $record{subdivisions} = [{iso_code => $subdivision, names => {en => $subdivision}}, {iso_code => 'X'}] if $subdivision;
    }
    $tree->insert_network($network, \%record);
}
open my $out, '>:raw', "$to.new" or die "$to: $!";
$tree->write_tree($out);
close $out or die "$to: $!";
rename "$to.new", $to or die "$to: $!";
