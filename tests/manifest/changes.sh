# nothing
true

# write
echo more >> many/m1/f1

# write, with the old mtime
touch -r many/m1/f1 ../t
echo x >> many/m1/f1
touch -r ../t many/m1/f1

# overwrite, with the old size and mtime: damage
touch -r d0/f0 ../t
printf x | dd of=d0/f0 conv=notrunc status=none
touch -r ../t d0/f0

# write through a mapping
python3 -c "import mmap; f = open('many/m2/f2', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[7] = m[7] ^ 1; m.flush()"

# write through a mapping, without msync
python3 -c "import mmap, os; f = open('many/m2/f22', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[9] = m[9] ^ 1; os._exit(0)"

# direct write
dd if=/dev/zero of=many/m3/f3 bs=4096 count=1 oflag=direct status=none

# create
echo new > many/m3/new
mkdir -p fresh/deep
echo new > fresh/deep/file
: > fresh/empty

# remove
rm many/m4/f4
rm -r many/m5

# rename
mv many/m6/f6 many/m6/g6

# rename over another file
mv many/m6/f26 many/m6/f46

# rename to another directory
mv many/m6/f66 many/m7/f66

# rename a directory
mv many/m7 many/n7

# rename a directory into another one
mv many/n7 d1/n7

# rename a directory over the sibling of one above it
mkdir many/gone
mv d1/n7 many/stay
rmdir many/gone
mv -T many/stay many/gone

# exchange two files
mv many/m8/f8 x
mv many/m9/f9 many/m8/f8
mv x many/m9/f9

# exchange two directories
mv many/m8 x
mv many/m9 many/m8
mv x many/m9

# exchange a directory and one below it
mkdir -p up/down
echo 1 > up/down/f
mv up/down y
mv up y/up
mv y up

# rename in a cycle
mv d0 c
mv d1 d0
mv d2 d1
mv c d2

# rename and back
mv many/m10/f10 x
mv x many/m10/f10

# change and change back
cp many/m10/f30 ../t
echo x >> many/m10/f30
cat ../t > many/m10/f30

# add hard links
ln many/m11/f11 many/m11/l11
ln many/m11/f31 fresh/l31

# write through one of two names
echo x >> fresh/l31

# chmod of one of two names
chmod 600 many/m11/l11

# remove one of two names
rm many/m11/l11
rm many/m11/f31

# a name of another file
ln -f many/m12/f12 many/m12/f32

# many hard links
for n in $(seq 300); do ln many/m12/f52 many/m12/a-rather-long-name-of-a-link-$n; done

# remove many hard links
rm many/m12/a-rather-long-name-*5

# chmod
chmod 640 many/m13/f13
chmod 700 many/m13

# chown
chown 1234:4321 many/m13/f33
chgrp 7 many/m14

# attributes only
setfattr -n user.a -v 1 many/m14/f14
setfattr -n user.b -v 2 many/m14

# attributes with the old value
setfattr -n user.a -v 1 many/m14/f14

# remove an attribute
setfattr -x user.a many/m14/f14

# access lists
one=0x0200000001000600ffffffff02000400d204000004000400ffffffff10000400ffffffff20000400ffffffff
setfattr -n system.posix_acl_access -v $one many/m14/f34
setfattr -n system.posix_acl_default -v $one many/m14

# a trusted attribute
setfattr -n trusted.t -v 1 many/m14/f54

# flags
chattr +i many/m15/f15
chattr +A many/m15/f35

# flags back
chattr -i many/m15/f15

# touch
touch many/m15/f55
touch -d @1000000000 many/m15/f75
touch many/m15

# atime
touch -a -d @7 many/m16/f16

# truncate
truncate -s 100 many/m16/f36
: > many/m16/f56

# extend with a hole
truncate -s 1M many/m16/f76

# punch a hole
fallocate -p -o 0 -l 4096 many/m17/f17

# preallocate
fallocate -l 1M many/m17/f37
fallocate -n -l 2M many/m17/f57

# write into what was preallocated
printf x | dd of=many/m17/f57 bs=1 seek=1000000 conv=notrunc status=none

# clone a file
cp --reflink=always many/m18/f18 many/m18/c18

# clone into a file
cp --reflink=always many/m18/f38 many/m18/f58

# without copying on write
mkdir nocow
chattr +C nocow
cp many/m18/f78 nocow/f

# write without copying on write
printf y | dd of=nocow/f conv=notrunc status=none
sync -f nocow/f
printf z | dd of=nocow/f conv=notrunc status=none

# compressed
btrfs property set many/m19/f19 compression zstd
head -c 200000 /dev/zero > many/m19/f19

# inline
printf tiny > many/m19/f39

# defragment
btrfs -q filesystem defragment -czlib many/m19/f19

# types
rm many/m19/f59
mkdir many/m19/f59
rm many/m19/f79
ln -s nowhere many/m19/f79
mkfifo pipe
mknod null c 1 3

# other types
rmdir many/m19/f59
echo file > many/m19/f59
ln -sfn elsewhere many/m19/f79
rm pipe null

# a name again
rm many/m0/f0
echo other > many/m0/f0

# a directory again
rm -r many/m1
mkdir many/m1
echo other > many/m1/f1

# odd names
touch $'many/m0/new\nline' many/m0/$'\xff' 'many/m0/ ' $'many/m0/e\u0301'
mkdir -p "$(printf 'n%.0s' $(seq 200))/$(printf 'm%.0s' $(seq 200))"

# a removed file that is open
exec 9> many/m0/open
echo x >&9
rm many/m0/open
touch many/m0

# a subvolume inside
btrfs -q subvolume create many/nested
echo n > many/nested/file

# in the subvolume inside
echo more > many/nested/other
touch many

# another subvolume inside
btrfs -q subvolume delete many/nested
btrfs -q subvolume create many/nested

# no subvolume inside
btrfs -q subvolume delete many/nested
mkdir many/nested

# the root itself
chmod 750 .
setfattr -n user.r -v 1 .

# a balance
btrfs -q balance start --full-balance ..

# nothing again
true
