#!/usr/bin/perl
# make_mmdb.pl NETWORKS.csv OUT.mmdb: a country database in the MaxMind format from lines network,country,continent.
use strict;
use warnings;
use MaxMind::DB::Writer::Tree;

my ($in, $out) = @ARGV;
my %types = (
    continent => 'map', country => 'map', code => 'utf8_string', iso_code => 'utf8_string',
    geoname_id => 'uint32', names => 'map', en => 'utf8_string',
);
my $tree = MaxMind::DB::Writer::Tree->new(
    ip_version => 6, record_size => 24, database_type => 'GeoLite2-Country',
    languages => ['en'], description => { en => 'made-up countries for a benchmark' },
    map_key_type_callback => sub { $types{ $_[0] } },
    remove_reserved_networks => 0, alias_ipv6_to_ipv4 => 0,
);
open my $lines, '<', $in or die "$in: $!";
while (<$lines>) {
    chomp;
    my ($network, $country, $continent) = split /,/;
    my $id = ord(substr $country, 0, 1) * 256 + ord(substr $country, 1, 1);
    $tree->insert_network($network, {
        continent => { code => $continent, geoname_id => 1, names => { en => $continent } },
        country => { iso_code => $country, geoname_id => $id, names => { en => $country } },
    });
}
open my $file, '>:raw', $out or die "$out: $!";
$tree->write_tree($file);
close $file;
